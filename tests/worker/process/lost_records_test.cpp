// Tests ranks with lost or replaced records and a killed shim. Each rank must still be found and
// killed, and must never be started twice.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "proto/support/durable_file.h"
#include "tests/worker/process/rank_fixture.h"
#include "worker/process/process_table.h"
#include "worker/process/rank_mark.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class LostRecordsTest : public RankTest {
 protected:
  // Removes the records, as a user's `rm -rf` would.
  void RemoveRecords() const {
    for (const char* name : {kStartFile, kLockFile, kShimFile, kOutputFile, kKillFile, kExitFile}) {
      std::filesystem::remove_all(File(name));
    }
  }

  RankState State() const {
    const absl::StatusOr<RankState> state = ReadRankState(place());
    EXPECT_TRUE(state.ok()) << state.status();
    return state.value_or(RankState());
  }

  // Kills the shim, and then the rank's first process.
  void KillShimAndLeader() {
    const ShimRecord shim = Shim();
    ASSERT_EQ(kill(shim.shim.pid, SIGKILL), 0);
    ASSERT_TRUE(AwaitGone(shim.shim.pid));
    ASSERT_EQ(kill(shim.rank.pid, SIGKILL), 0);
    ASSERT_TRUE(AwaitGone(shim.rank.pid));
  }
};

TEST_F(LostRecordsTest, RunningRankIsFoundByItsMarkAndKilled) {
  ASSERT_TRUE(LaunchShell("echo up > word; exec sleep 1000").ok());
  ASSERT_EQ(AwaitWord(), "up");
  const ShimRecord shim = Shim();
  RemoveRecords();
  EXPECT_EQ(State().presence, RankPresence::kRunning);
  EXPECT_EQ(State().rank_pid, shim.rank.pid);
  EXPECT_EQ(LaunchShell("exit 0").code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(SignalRank(place(), RankSignal::kKill).ok());
  ASSERT_TRUE(AwaitGone(shim.shim.pid));
  const RankState state = State();
  EXPECT_EQ(state.presence, RankPresence::kExited) << "its shim still records the end";
  EXPECT_EQ(state.exit.signal, SIGKILL);
  EXPECT_FALSE(state.processes_remain);
}

TEST_F(LostRecordsTest, RankWithoutRecordsAndShimCanBeStopped) {
  ASSERT_TRUE(LaunchShell("trap 'echo saved > word; exit 143' TERM; echo up > word; "
                          "while :; do sleep 0.02; done")
                  .ok());
  ASSERT_EQ(AwaitWord(), "up");
  const ShimRecord shim = Shim();
  ASSERT_EQ(kill(shim.shim.pid, SIGKILL), 0);
  ASSERT_TRUE(AwaitGone(shim.shim.pid));
  RemoveRecords();
  EXPECT_EQ(State().presence, RankPresence::kRunning);
  ASSERT_TRUE(SignalRank(place(), RankSignal::kTerminate).ok());
  EXPECT_EQ(AwaitWord(), "saved");
  ASSERT_TRUE(AwaitGone(shim.rank.pid));
}

TEST_F(LostRecordsTest, EndOfARankWhoseDirectoryIsGoneIsAnEndAndNoNewStart) {
  ASSERT_TRUE(LaunchShell("exit 0").ok());
  AwaitEnd();
  AwaitGone(Shim().shim.pid);
  std::filesystem::remove_all(dir());
  const RankState state = State();
  EXPECT_EQ(state.presence, RankPresence::kVanished);
  EXPECT_THAT(state.summary, HasSubstr("the records of the rank are lost"));
  EXPECT_FALSE(state.processes_remain);
  EXPECT_FALSE(LaunchShell("exit 0").ok());
}

TEST_F(LostRecordsTest, OneLostRecordIsNoNeverStartedRank) {
  ASSERT_TRUE(LaunchShell("exit 3").ok());
  AwaitEnd();
  AwaitGone(Shim().shim.pid);
  std::filesystem::remove(File(kExitFile));
  EXPECT_EQ(State().presence, RankPresence::kVanished);
  std::filesystem::remove(File(kShimFile));
  EXPECT_EQ(State().presence, RankPresence::kVanished) << "its output is there";
  EXPECT_EQ(LaunchShell("exit 0").code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(LostRecordsTest, ProcessesInOtherSessionsHoldTheSlotUntilTheyAreKilled) {
  ASSERT_TRUE(LaunchShell("setsid sleep 1000 & a=$!; setsid env -i /bin/sh -c 'sleep 999 & wait' "
                          "& echo $a $! > word; wait")
                  .ok());
  const std::vector<std::string> words = absl::StrSplit(AwaitWord(), ' ');
  ASSERT_EQ(words.size(), 2);
  KillShimAndLeader();
  RankState state = State();
  EXPECT_EQ(state.presence, RankPresence::kVanished);
  EXPECT_TRUE(state.processes_remain);
  EXPECT_TRUE(state.unattended);
  SweepRank(place());
  pid_t marked = 0;
  ASSERT_TRUE(absl::SimpleAtoi(words[0], &marked));
  EXPECT_TRUE(AwaitGone(marked));
  // A killed process ends a moment later.
  for (const MarkedProcess& killed : FindMarked(place().mark)) {
    EXPECT_TRUE(AwaitGone(killed.stat.pid));
  }
  EXPECT_THAT(FindMarked(place().mark), IsEmpty());
  EXPECT_FALSE(State().processes_remain);
  // Pid of a process that cleared its environment after its parent had exited. The worker cannot
  // find such a process; rank_mark.h describes this limitation.
  pid_t unmarked = 0;
  ASSERT_TRUE(absl::SimpleAtoi(words[1], &unmarked));
  kill(-unmarked, SIGKILL);
}

TEST_F(LostRecordsTest, StopKillsAllSessionsOfARankWithoutShim) {
  ASSERT_TRUE(LaunchShell("setsid env -i sleep 1000 & echo $! > word; wait").ok());
  pid_t child = 0;
  ASSERT_TRUE(absl::SimpleAtoi(AwaitWord(), &child));
  const ShimRecord shim = Shim();
  ASSERT_EQ(kill(shim.shim.pid, SIGKILL), 0);
  ASSERT_TRUE(AwaitGone(shim.shim.pid));
  EXPECT_EQ(State().presence, RankPresence::kRunning);
  // The child has no mark, but its running parent has a mark, so the kill reaches both processes.
  ASSERT_TRUE(SignalRank(place(), RankSignal::kKill).ok());
  EXPECT_TRUE(AwaitGone(shim.rank.pid));
  kill(child, SIGKILL);
}

class ReplacedRecordTest : public RankTest, public testing::WithParamInterface<const char*> {};

// Nobody writes to the FIFO, so a blocking open would wait forever.
TEST_P(ReplacedRecordTest, FifoStopsNobody) {
  ASSERT_TRUE(LaunchShell("echo up > word; exec sleep 1000").ok());
  ASSERT_EQ(AwaitWord(), "up");
  const pid_t rank = Shim().rank.pid;
  std::filesystem::remove(File(GetParam()));
  ASSERT_EQ(mkfifo(File(GetParam()).c_str(), 0600), 0);
  const absl::StatusOr<RankState> state = ReadRankState(place());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->presence, RankPresence::kRunning);
  EXPECT_EQ(state->rank_pid, rank);
  EXPECT_EQ(ReadLogTail(dir()), "");
  EXPECT_FALSE(LaunchShell("exit 0").ok());
  ASSERT_TRUE(SignalRank(place(), RankSignal::kKill).ok());
  EXPECT_TRUE(AwaitGone(rank));
}

INSTANTIATE_TEST_SUITE_P(
    Records, ReplacedRecordTest,
    testing::Values(kStartFile, kLockFile, kShimFile, kOutputFile, kKillFile, kExitFile),
    [](const auto& info) {
      return std::string(
          absl::string_view(info.param).substr(0, absl::string_view(info.param).find('.')));
    });

TEST_F(LostRecordsTest, FifoBeforeTheStartIsAnError) {
  ASSERT_EQ(mkfifo(File(kOutputFile).c_str(), 0600), 0);
  EXPECT_THAT(std::string(LaunchShell("exit 0").message()), HasSubstr("is not a regular file"));
}

TEST_F(LostRecordsTest, ExitIsRecordedOverAFifo) {
  ASSERT_TRUE(LaunchShell("echo up > word; exec sleep 1000").ok());
  ASSERT_EQ(AwaitWord(), "up");
  ASSERT_EQ(mkfifo(File(kExitFile).c_str(), 0600), 0);
  kill(Shim().rank.pid, SIGTERM);
  ASSERT_TRUE(AwaitGone(Shim().shim.pid));
  EXPECT_EQ(State().presence, RankPresence::kExited);
  EXPECT_EQ(State().exit.signal, SIGTERM);
}

TEST_F(LostRecordsTest, ProgramThatIsAFifoIsASpawnError) {
  // Launch may return OK at first, because the spawn error is detected later.
  ASSERT_EQ(mkfifo(File("program").c_str(), 0700), 0);
  RankCommand command = Shell("exit 0");
  command.argv = {File("program")};
  ASSERT_TRUE(launcher().Launch(place(), command).ok());
  EXPECT_EQ(AwaitEnd().exit.exit_code, kSpawnErrorExit);
}

}  // namespace
}  // namespace trainyard::worker
