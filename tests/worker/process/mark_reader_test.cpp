#include "worker/process/mark_reader.h"

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/no_threads.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

ProcessStat Process(pid_t pid, uint64_t environment_begin = 1) {
  return {.pid = pid, .start_time = 7, .environment_begin = environment_begin};
}

class MarkReaderTest : public testing::Test {
 protected:
  // Processes with odd pids have a mark. Reading the environment of process 9 blocks until Answer()
  // is called.
  MarkReader reader_{[this](pid_t pid) -> absl::StatusOr<std::optional<Mark>> {
                       ++reads_;
                       if (pid == 9) answered_.wait();
                       if (pid % 2 == 0) return absl::PermissionDeniedError("foreign");
                       if (busy_) return absl::ResourceExhaustedError("no descriptor left");
                       return Mark{"mark", pid};
                     },
                     std::chrono::milliseconds(20)};
  std::atomic<int> reads_{0};
  std::atomic<bool> busy_{false};
  std::promise<void> answer_;
  std::shared_future<void> answered_ = answer_.get_future().share();
};

TEST_F(MarkReaderTest, ReadsEachProgramOnce) {
  EXPECT_THAT(reader_.MarksOf({Process(1), Process(2), Process(3)}), ElementsAre(Key(1), Key(3)));
  EXPECT_THAT(reader_.MarksOf({Process(1), Process(2)}), ElementsAre(Key(1)));
  EXPECT_EQ(reads_, 3);
  EXPECT_THAT(reader_.MarksOf({Process(1, 5)}), ElementsAre(Key(1))) << "it runs another program";
  EXPECT_EQ(reads_, 4);
  EXPECT_THAT(reader_.MarksOf({}), IsEmpty());
  EXPECT_THAT(reader_.MarksOf({Process(3)}), ElementsAre(Key(3))) << "it was forgotten";
  EXPECT_EQ(reads_, 5);
}

TEST_F(MarkReaderTest, AnEnvironmentThatDoesNotComeHoldsUpTheOthersOnce) {
  const std::vector<ProcessStat> processes = {Process(1), Process(9), Process(3), Process(5)};
  EXPECT_THAT(reader_.MarksOf(processes), ElementsAre(Key(1), Key(3), Key(5)));
  EXPECT_THAT(reader_.MarksOf(processes), ElementsAre(Key(1), Key(3), Key(5)));
  EXPECT_EQ(reads_, 4) << "nobody else waits for it";
  answer_.set_value();
  while (reader_.MarksOf(processes).size() < 4) std::this_thread::yield();
  EXPECT_EQ(reads_, 4);
}

TEST_F(MarkReaderTest, AReadThatFailedForTheMomentIsRepeated) {
  busy_ = true;
  EXPECT_THAT(reader_.MarksOf({Process(1)}), IsEmpty());
  busy_ = false;
  EXPECT_THAT(reader_.MarksOf({Process(1)}), ElementsAre(Key(1)));
}

TEST_F(MarkReaderTest, WithoutAThreadItReadsItself) {
  const NoThreads none;
  EXPECT_THAT(reader_.MarksOf({Process(1)}), ElementsAre(Key(1)));
}

}  // namespace
}  // namespace trainyard::worker
