#include "controller/loop/log_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "controller/core/event_log/snapshot.h"
#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

v1::Event QueueEvent(const std::string& name) {
  v1::Event event;
  event.mutable_queue_set()->mutable_queue()->set_name(name);
  return event;
}

// A log that a test changes while followers read it. Thread-safe.
class SharedLog {
 public:
  void Append(v1::Event event) {
    const std::lock_guard lock(mutex_);
    events_[++last_] = std::move(event);
  }
  // Replaces the events up to `sequence` by a snapshot.
  void Condense(uint64_t sequence, v1::Snapshot snapshot) {
    const std::lock_guard lock(mutex_);
    snapshot.set_last_sequence(sequence);
    snapshot_ = std::move(snapshot);
    events_.erase(events_.begin(), events_.upper_bound(sequence));
  }
  void SetError(absl::Status error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
  }
  void EndSessions() {
    const std::lock_guard lock(mutex_);
    session_ended_ = true;
  }
  bool SessionEnded() const {
    const std::lock_guard lock(mutex_);
    return session_ended_;
  }
  // Waits until a follower has looked at the log this many times more.
  void WaitForReads(int more) {
    std::unique_lock lock(mutex_);
    const int wanted = reads_ + more;
    read_.wait(lock, [&] { return reads_ >= wanted; });
  }

  absl::StatusOr<LogTail::Batch> ReadAfter(uint64_t after) {
    const std::lock_guard lock(mutex_);
    ++reads_;
    read_.notify_all();
    if (!error_.ok()) return error_;
    LogTail::Batch batch;
    batch.last_sequence = after;
    if (after == 0 || (after < last_ && !events_.contains(after + 1))) {
      batch.restarts = true;
      batch.snapshot = snapshot_;
      batch.last_sequence = snapshot_.has_value() ? snapshot_->last_sequence() : 0;
    }
    const auto next = events_.find(batch.last_sequence + 1);
    if (next == events_.end()) return batch;
    // One event per batch.
    batch.events.push_back(next->second);
    ++batch.last_sequence;
    batch.has_more = events_.contains(batch.last_sequence + 1);
    return batch;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable read_;
  int reads_ = 0;
  std::map<uint64_t, v1::Event> events_;
  uint64_t last_ = 0;
  std::optional<v1::Snapshot> snapshot_;
  absl::Status error_;
  bool session_ended_ = false;
};

class SharedLogTail final : public LogTail {
 public:
  explicit SharedLogTail(SharedLog& log) : log_(log) {}
  absl::StatusOr<Batch> ReadAfter(uint64_t after) override { return log_.ReadAfter(after); }
  bool IsSameSession() const override { return !log_.SessionEnded(); }

 private:
  SharedLog& log_;
};

class LogFollowerTest : public testing::Test {
 protected:
  void Start() { follower_.Start(); }
  // Two looks later, everything that was in the log has been applied.
  void WaitUntilRead() { log_.WaitForReads(3); }
  static std::vector<std::string> QueuesIn(const ReplayedState& replayed) {
    std::vector<std::string> names;
    for (const auto& [name, queue] : replayed.state.queues) names.push_back(name);
    return names;
  }

  SharedLog log_;
  HandClock clock_;
  LogFollower follower_{[this]() -> absl::StatusOr<std::unique_ptr<LogTail>> {
                          return std::make_unique<SharedLogTail>(log_);
                        },
                        clock_, std::chrono::milliseconds(1)};
};

TEST_F(LogFollowerTest, TheStateContainsOldAndNewEvents) {
  log_.Append(QueueEvent("a"));
  log_.Append(QueueEvent("b"));
  Start();
  WaitUntilRead();
  log_.Append(QueueEvent("c"));
  WaitUntilRead();
  EXPECT_EQ(follower_.position(), 3);
  const auto replayed = follower_.Take();
  ASSERT_NE(replayed, nullptr);
  EXPECT_THAT(QueuesIn(*replayed), testing::ElementsAre("a", "b", "c"));
  EXPECT_EQ(replayed->last_sequence, 3u);
  EXPECT_EQ(replayed->snapshot_sequence, 0u);
}

TEST_F(LogFollowerTest, TheTimeOfTheLastEventIsKnownOnlyIfTheFollowerWaitedForIt) {
  log_.Append(QueueEvent("a"));
  Start();
  WaitUntilRead();
  log_.Append(QueueEvent("b"));
  WaitUntilRead();
  EXPECT_EQ(follower_.Take()->newest_ms, clock_.Read().steady_ms);
}

TEST_F(LogFollowerTest, TheTimeOfAnEventBeforeTheStartIsUnknown) {
  log_.Append(QueueEvent("a"));
  log_.Append(QueueEvent("b"));
  Start();
  WaitUntilRead();
  EXPECT_EQ(follower_.Take()->newest_ms, std::nullopt);
}

TEST_F(LogFollowerTest, AFollowerThatFellBehindASnapshotBeginsWithIt) {
  log_.Append(QueueEvent("a"));
  Start();
  WaitUntilRead();
  ClusterState condensed;
  condensed.queues["from-snapshot"].set_name("from-snapshot");
  log_.SetError(absl::UnavailableError("no answer"));
  log_.WaitForReads(2);
  EXPECT_EQ(follower_.position(), 0);
  for (const char* name : {"b", "c", "d"}) log_.Append(QueueEvent(name));
  log_.Condense(3, ToSnapshot(condensed, 3));
  log_.SetError(absl::OkStatus());
  WaitUntilRead();
  const auto replayed = follower_.Take();
  ASSERT_NE(replayed, nullptr);
  EXPECT_THAT(QueuesIn(*replayed), testing::ElementsAre("d", "from-snapshot"));
  EXPECT_EQ(replayed->last_sequence, 4u);
  EXPECT_EQ(replayed->snapshot_sequence, 3u);
}

TEST_F(LogFollowerTest, AStateOfAnEndedSessionIsNotUsed) {
  log_.Append(QueueEvent("a"));
  Start();
  WaitUntilRead();
  log_.EndSessions();
  EXPECT_EQ(follower_.Take(), nullptr);
}

TEST_F(LogFollowerTest, WithoutAStartThereIsNoState) { EXPECT_EQ(follower_.Take(), nullptr); }

TEST_F(LogFollowerTest, AnEventOfANewerReleaseIsAProblem) {
  log_.Append(QueueEvent("a"));
  log_.Append(v1::Event());
  Start();
  while (follower_.Problem().empty()) std::this_thread::yield();
  EXPECT_THAT(follower_.Problem(), HasSubstr("upgrade this controller"));
  EXPECT_EQ(follower_.Take(), nullptr);
}

}  // namespace
}  // namespace trainyard::controller
