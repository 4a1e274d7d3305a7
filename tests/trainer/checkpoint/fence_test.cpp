#include "trainer/checkpoint/fence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <set>
#include <thread>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/checkpoint/retention.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;

// Raises the fence for an attempt outside of a job. Returns the exit code.
ExitCode CodeOfRaise(const std::string& directory, int64_t attempt_number) {
  try {
    RaiseFence(directory, {{0, attempt_number}});
    return ExitCode::kOk;
  } catch (const TrainerError& error) {
    return error.code();
  }
}

std::string ErrorOfRaise(const std::string& directory, const WriterKey& writer) {
  try {
    RaiseFence(directory, writer);
    return "";
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kFenced);
    return error.what();
  }
}

int64_t NewestIn(const std::string& directory) {
  return FenceLock(directory).Newest().attempt.number;
}

TEST(FenceTest, OnlyGrows) {
  const CheckpointDirectory directory;
  EXPECT_EQ(NewestIn(directory.path()), 0);
  EXPECT_EQ(CodeOfRaise(directory.path(), 3), ExitCode::kOk);
  EXPECT_EQ(CodeOfRaise(directory.path(), 3), ExitCode::kOk);
  EXPECT_EQ(CodeOfRaise(directory.path(), 2), ExitCode::kFenced);
  EXPECT_EQ(CodeOfRaise(directory.path(), 12), ExitCode::kOk);
  EXPECT_EQ(NewestIn(directory.path()), 12);
  EXPECT_NO_THROW(FenceLock(directory.path()).CheckNotNewerThan({{0, 12}}));
  EXPECT_THROW(FenceLock(directory.path()).CheckNotNewerThan({{0, 11}}), TrainerError);
}

TEST(FenceTest, MakesTheDirectory) {
  const CheckpointDirectory directory;
  RaiseFence(directory.path() + "/a/b", {{0, 1}});
  EXPECT_EQ(NewestIn(directory.path() + "/a/b"), 1);
}

TEST(FenceTest, AcceptsAnAttemptWrittenByHandAndRefusesOthers) {
  const CheckpointDirectory directory;
  std::ofstream(directory.path() + "/ATTEMPT") << "7\n";
  EXPECT_EQ(CodeOfRaise(directory.path(), 6), ExitCode::kFenced);
  EXPECT_EQ(CodeOfRaise(directory.path(), 8), ExitCode::kOk);
  EXPECT_EQ(NewestIn(directory.path()), 8);
  for (const char* nonsense : {"seven", "7 ", "7 eight", "7 8 9", "-7", "7 -8"}) {
    std::ofstream(directory.path() + "/ATTEMPT") << nonsense;
    EXPECT_EQ(CodeOfRaise(directory.path(), 9), ExitCode::kBadData) << nonsense;
  }
}

TEST(FenceTest, ALaterJobTakesOverWhateverTheAttemptsAreNumbered) {
  const CheckpointDirectory directory;
  EXPECT_EQ(ErrorOfRaise(directory.path(), {{7, 5}}), "");
  EXPECT_EQ(ErrorOfRaise(directory.path(), {{9, 1}}), "");
  EXPECT_TRUE(FenceLock(directory.path()).Newest() == (WriterKey{{9, 1}}));
  EXPECT_EQ(ErrorOfRaise(directory.path(), {{9, 2}}), "");
  EXPECT_THAT(ErrorOfRaise(directory.path(), {{9, 1}}),
              HasSubstr("attempt 1 is over, because attempt 2"));
  // Job 9 owns the directory. A late attempt of job 7 and a run outside of any job must both fail,
  // with an error that names the owner and the remedy.
  for (const WriterKey& other : {WriterKey{{7, 6}}, WriterKey{{0, 100}}}) {
    EXPECT_THAT(ErrorOfRaise(directory.path(), other),
                testing::AllOf(HasSubstr("belongs to job 9 (attempt 2"), HasSubstr("remove ")));
  }
}

TEST(FenceTest, AContinuedGangFencesTheRankThatItHasLost) {
  const CheckpointDirectory directory;
  EXPECT_EQ(ErrorOfRaise(directory.path(), {{7, 5}}), "");
  EXPECT_EQ(ErrorOfRaise(directory.path(), {{7, 5}, 2}), "");
  EXPECT_TRUE(FenceLock(directory.path()).Newest() == (WriterKey{{7, 5}, 2}));
  EXPECT_THAT(ErrorOfRaise(directory.path(), {{7, 5}}),
              HasSubstr("without this process, as generation 2"));
  EXPECT_EQ(ErrorOfRaise(directory.path(), {{7, 6}}), "") << "a later attempt begins anew";
}

TEST(FenceTest, DirectoryOfALiveJobIsNoOtherJobs) {
  const CheckpointDirectory directory;
  RaiseFence(directory.path(), {{7, 5}});
  EXPECT_NO_THROW(CheckOwnerHasEnded(directory.path(), {{7, 6}}, "7"));
  EXPECT_NO_THROW(CheckOwnerHasEnded(directory.path(), {{9, 1}}, "")) << "an older controller";
  EXPECT_NO_THROW(CheckOwnerHasEnded(directory.path(), {{9, 1}}, "1,17,70")) << "job 7 has ended";
  for (const char* live_jobs : {"7", "3,7", "7,8", "3,7,8"}) {
    try {
      CheckOwnerHasEnded(directory.path(), {{9, 1}}, live_jobs);
      ADD_FAILURE() << live_jobs;
    } catch (const TrainerError& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadConfig);
      EXPECT_THAT(error.what(), HasSubstr("in use by job 7, which has not ended"));
    }
  }
  EXPECT_TRUE(FenceLock(directory.path()).Newest() == (WriterKey{{7, 5}})) << "no claim is left";
}

TEST(FenceTest, ReadsTheFenceOfAnEarlierVersion) {
  const CheckpointDirectory directory;
  std::ofstream(directory.path() + "/ATTEMPT") << "00000000000000000003\n";
  EXPECT_TRUE(FenceLock(directory.path()).Newest() == (WriterKey{{0, 3}}));
  EXPECT_EQ(ErrorOfRaise(directory.path(), {{7, 1}}), "");
  EXPECT_TRUE(FenceLock(directory.path()).Newest() == (WriterKey{{7, 1}}));
}

TEST(FenceTest, SharesTheFenceThatAnEarlierVersionNamed) {
  const CheckpointDirectory directory;
  // Earlier versions called the attempt an epoch and named their fence file EPOCH. Here the file
  // contains attempt 3 of job 7. ATTEMPT becomes a hard link to EPOCH, so that old and new versions
  // share one fence.
  const std::string former = directory.path() + "/EPOCH";
  std::ofstream(former) << "00000000000000000003 00000000000000000007\n";
  EXPECT_THAT(ErrorOfRaise(directory.path(), {{7, 2}}),
              HasSubstr("attempt 2 is over, because attempt 3"));
  EXPECT_EQ(ErrorOfRaise(directory.path(), {{7, 4}}), "");
  // A trainer of an earlier version may still be running. It reads only EPOCH, so the new attempt
  // must be in that file, too.
  std::string number;
  std::ifstream(former) >> number;
  EXPECT_EQ(number, "00000000000000000004");
  EXPECT_THAT(ErrorOfRaise(directory.path(), {{6, 1}}),
              HasSubstr("remove " + directory.path() + "/ATTEMPT* and " + former));
}

// Simulates a lock server that grants a lock although another node has the lock.
int LockNobody(int, int) { return 0; }

// Simulates a file system that does not support locks.
int RefuseLock(int, int) {
  errno = ENOLCK;
  return -1;
}

// Runs `work` in a child process and returns its exit status.
template <typename Work>
int InOtherProcess(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int RaiseWithoutLock(const std::string& directory, int64_t attempt_number) {
  try {
    RaiseFence(directory, {{0, attempt_number}}, LockNobody);
    return 0;
  } catch (const TrainerError& error) {
    return static_cast<int>(error.code());
  }
}

TEST(FenceTest, WorksWhereTheFileSystemHasNoLocks) {
  const CheckpointDirectory directory;
  RaiseFence(directory.path(), {{0, 2}}, RefuseLock);
  EXPECT_EQ(FenceLock(directory.path(), RefuseLock).Newest().attempt.number, 2);
  EXPECT_THROW(RaiseFence(directory.path(), {{0, 1}}, RefuseLock), TrainerError);
}

// Attempt 1 has a lock that other nodes do not see, and has just checked that no newer attempt
// exists. When attempt 2 raises the fence, attempt 1 must no longer be able to publish.
TEST(FenceTest, HoldsAgainstAnotherProcessWithoutALock) {
  const CheckpointDirectory directory;
  ASSERT_EQ(CodeOfRaise(directory.path(), 1), ExitCode::kOk);
  const FenceLock lock(directory.path());
  lock.CheckNotNewerThan({{0, 1}});
  const std::string building = directory.path() + "/" + TemporaryName(10, {{0, 1}}, 1);
  std::filesystem::create_directory(building);
  EXPECT_EQ(InOtherProcess([&] { return RaiseWithoutLock(directory.path(), 2); }), 0);
  std::error_code error;
  std::filesystem::rename(building, directory.Step(10), error);
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_THROW(lock.CheckNotNewerThan({{0, 1}}), TrainerError);
}

// An attempt also claims the directory by a separate file. If an older attempt overwrites ATTEMPT
// late, the newest claim must still count.
TEST(FenceTest, AClaimOutweighsTheFile) {
  const CheckpointDirectory directory;
  ASSERT_EQ(CodeOfRaise(directory.path(), 5), ExitCode::kOk);
  std::ofstream(directory.path() + "/ATTEMPT") << "3\n";
  EXPECT_EQ(NewestIn(directory.path()), 5);
  EXPECT_EQ(CodeOfRaise(directory.path(), 4), ExitCode::kFenced);
}

TEST(FenceTest, OfProcessesThatRaiseItAtOnceTheNewestWins) {
  const CheckpointDirectory directory;
  std::vector<pid_t> children;
  for (int attempt_number = 1; attempt_number <= 8; ++attempt_number) {
    const pid_t child = fork();
    if (child == 0) _exit(RaiseWithoutLock(directory.path(), attempt_number));
    children.push_back(child);
  }
  int newest_status = -1;
  for (const pid_t child : children) waitpid(child, &newest_status, 0);
  EXPECT_EQ(newest_status, 0) << "the newest attempt is never fenced";
  EXPECT_EQ(NewestIn(directory.path()), 8);
  for (int attempt_number = 1; attempt_number < 8; ++attempt_number) {
    EXPECT_EQ(CodeOfRaise(directory.path(), attempt_number), ExitCode::kFenced);
  }
}

TEST(FenceTest, KeepsNoClaimsOfOlderAttempts) {
  const CheckpointDirectory directory;
  for (int attempt_number = 1; attempt_number <= 20; ++attempt_number) {
    ASSERT_EQ(CodeOfRaise(directory.path(), attempt_number), ExitCode::kOk);
  }
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    names.insert(entry.path().filename());
  }
  EXPECT_EQ(names, (std::set<std::string>{"ATTEMPT", "ATTEMPT.0.20"}));
}

TEST(FenceTest, ExcludesOthersWhileItIsHeld) {
  const CheckpointDirectory directory;
  std::atomic<bool> raised = false;
  std::thread other;
  {
    const FenceLock lock(directory.path());
    other = std::thread([&] {
      RaiseFence(directory.path(), {{0, 5}});
      raised = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(raised);
    EXPECT_EQ(lock.Newest().attempt.number, 0);
  }
  other.join();
  EXPECT_EQ(NewestIn(directory.path()), 5);
}

}  // namespace
}  // namespace trainyard::trainer
