#include "trainer/checkpoint/fence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

ExitCode CodeOfRaise(const std::string& directory, int64_t epoch) {
  try {
    RaiseFence(directory, epoch);
    return ExitCode::kOk;
  } catch (const TrainerError& error) {
    return error.code();
  }
}

TEST(FenceTest, OnlyGrows) {
  const CheckpointDirectory directory;
  EXPECT_EQ(FenceLock(directory.path()).Epoch(), 0);
  EXPECT_EQ(CodeOfRaise(directory.path(), 3), ExitCode::kOk);
  EXPECT_EQ(CodeOfRaise(directory.path(), 3), ExitCode::kOk);
  EXPECT_EQ(CodeOfRaise(directory.path(), 2), ExitCode::kFenced);
  EXPECT_EQ(CodeOfRaise(directory.path(), 12), ExitCode::kOk);
  EXPECT_EQ(FenceLock(directory.path()).Epoch(), 12);
  EXPECT_NO_THROW(FenceLock(directory.path()).CheckNotNewerThan(12));
  EXPECT_THROW(FenceLock(directory.path()).CheckNotNewerThan(11), TrainerError);
}

TEST(FenceTest, MakesTheDirectory) {
  const CheckpointDirectory directory;
  RaiseFence(directory.path() + "/a/b", 1);
  EXPECT_EQ(FenceLock(directory.path() + "/a/b").Epoch(), 1);
}

TEST(FenceTest, AcceptsAnEpochWrittenByHandAndRefusesOthers) {
  const CheckpointDirectory directory;
  std::ofstream(directory.path() + "/EPOCH") << "7\n";
  EXPECT_EQ(CodeOfRaise(directory.path(), 6), ExitCode::kFenced);
  EXPECT_EQ(CodeOfRaise(directory.path(), 8), ExitCode::kOk);
  EXPECT_EQ(FenceLock(directory.path()).Epoch(), 8);
  std::ofstream(directory.path() + "/EPOCH") << "seven";
  EXPECT_EQ(CodeOfRaise(directory.path(), 9), ExitCode::kBadData);
}

TEST(FenceTest, ExcludesOthersWhileItIsHeld) {
  const CheckpointDirectory directory;
  std::atomic<bool> raised = false;
  std::thread other;
  {
    const FenceLock lock(directory.path());
    other = std::thread([&] {
      RaiseFence(directory.path(), 5);
      raised = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(raised);
    EXPECT_EQ(lock.Epoch(), 0);
  }
  other.join();
  EXPECT_EQ(FenceLock(directory.path()).Epoch(), 5);
}

}  // namespace
}  // namespace trainyard::trainer
