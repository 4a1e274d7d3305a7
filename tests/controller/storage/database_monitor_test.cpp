#include "controller/storage/database_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <utility>

#include "proto/support/clock.h"

namespace trainyard::controller {
namespace {

// Returns the answer of the test, and counts the reads.
class FakeProbe : public DatabaseProbe {
 public:
  absl::StatusOr<DatabaseFacts> Read(int64_t now_ms) override {
    std::unique_lock lock(mutex_);
    ++reads_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !blocks_; });
    if (answer_.ok()) answer_->database.set_read_ms(now_ms);
    return answer_;
  }

  void Set(absl::StatusOr<DatabaseFacts> answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  void Block(bool blocks) {
    const std::lock_guard lock(mutex_);
    blocks_ = blocks;
    changed_.notify_all();
  }
  // Waits for two more reads: the first of them may have begun before the call.
  void AwaitRead() {
    std::unique_lock lock(mutex_);
    const int wanted = reads_ + 2;
    changed_.wait(lock, [&] { return reads_ >= wanted; });
  }
  void AwaitFirstRead() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reads_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  absl::StatusOr<DatabaseFacts> answer_ = DatabaseFacts();
  bool blocks_ = false;
  int reads_ = 0;
};

v1::GetServerInfoResponse InfoOf(const DatabaseMonitor& monitor) {
  v1::GetServerInfoResponse info;
  monitor.AddTo(info);
  return info;
}

class DatabaseMonitorTest : public testing::Test {
 protected:
  SystemClock clock_;
  FakeProbe probe_;
  DatabaseMonitor monitor_{&probe_, clock_, std::chrono::milliseconds(1)};
};

TEST_F(DatabaseMonitorTest, AfterAnErrorTheFactsOfTheLastReadStay) {
  DatabaseFacts facts;
  facts.database.set_version("15.20");
  facts.standbys.emplace_back().set_address("10.0.0.2:7070");
  probe_.Set(facts);
  monitor_.Start();
  probe_.AwaitRead();
  EXPECT_EQ(InfoOf(monitor_).database().version(), "15.20");
  EXPECT_EQ(InfoOf(monitor_).standbys_size(), 1);
  probe_.Set(absl::UnavailableError("no answer"));
  probe_.AwaitRead();
  EXPECT_EQ(InfoOf(monitor_).database().error(), "no answer");
  EXPECT_EQ(InfoOf(monitor_).database().version(), "15.20");
  probe_.Set(facts);
  probe_.AwaitRead();
  EXPECT_EQ(InfoOf(monitor_).database().error(), "");
}

TEST_F(DatabaseMonitorTest, AServerThatDoesNotAnswerBlocksNoCaller) {
  probe_.Block(true);
  monitor_.Start();
  probe_.AwaitFirstRead();
  EXPECT_TRUE(InfoOf(monitor_).has_database());
  EXPECT_EQ(InfoOf(monitor_).database().read_ms(), 0);
  probe_.Block(false);
}

TEST_F(DatabaseMonitorTest, WithoutAServerNothingIsReported) {
  DatabaseMonitor none(nullptr, clock_);
  none.Start();
  EXPECT_FALSE(InfoOf(none).has_database());
}

}  // namespace
}  // namespace trainyard::controller
