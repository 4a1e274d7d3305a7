// Tests how real ranks start and end under the real shim.
#include "worker/process/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "proto/support/boot_id.h"
#include "proto/support/durable_file.h"
#include "tests/fakes/hung_file_system.h"
#include "tests/fakes/no_threads.h"
#include "tests/worker/process/rank_fixture.h"
#include "worker/process/process_limit.h"
#include "worker/process/process_table.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;

using RankProcessTest = RankTest;

pid_t ToPid(const std::string& text) {
  pid_t pid = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &pid)) << text;
  return pid;
}

TEST_F(RankProcessTest, RecordsExitCode) {
  ASSERT_TRUE(LaunchShell("exit 3").ok());
  const RankState state = AwaitEnd();
  EXPECT_EQ(state.presence, RankPresence::kExited);
  EXPECT_EQ(state.exit.exit_code, 3);
  EXPECT_EQ(state.exit.signal, 0);
  EXPECT_EQ(state.exit.spawn_error, "");
  EXPECT_FALSE(state.exit.out_of_memory);
  EXPECT_FALSE(state.processes_remain);
  EXPECT_GT(state.rank_pid, 0);
  EXPECT_GE(state.exit.ended_ms, state.started_ms);
  EXPECT_GT(state.started_ms, 1600000000000);
}

TEST_F(RankProcessTest, RecordsSignal) {
  ASSERT_TRUE(LaunchShell("kill -SEGV $$").ok());
  const RankState state = AwaitEnd();
  EXPECT_EQ(state.exit.signal, SIGSEGV);
  EXPECT_EQ(state.exit.exit_code, 0);
}

TEST_F(RankProcessTest, BothStreamsGoToOnePrivateFile) {
  ASSERT_TRUE(LaunchShell("echo out; echo err >&2; cat; echo end").ok());
  AwaitEnd();
  EXPECT_EQ(Output(), "out\nerr\nend\n");
  struct stat info = {};
  for (const char* name : {kOutputFile, kStartFile, kShimFile, kExitFile}) {
    ASSERT_EQ(stat(File(name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0600) << name;
  }
}

TEST_F(RankProcessTest, EnvironmentIsExact) {
  setenv("TRAINYARD_TEST_LEAK", "1", 1);
  RankCommand command = {{"env"}, {{"PATH", "/usr/bin:/bin"}, {"RANK", "7"}, {"E", "a=b\nc"}}, "/"};
  ASSERT_TRUE(launcher().Launch(place(), command).ok());
  EXPECT_EQ(AwaitEnd().exit.exit_code, 0);
  EXPECT_EQ(Output(), absl::StrCat("E=a=b\nc\nPATH=/usr/bin:/bin\nRANK=7\nTRAINYARD_RANK_MARK=",
                                   place().mark, ":", Shim().rank.pid, "\n"));
  unsetenv("TRAINYARD_TEST_LEAK");
}

TEST_F(RankProcessTest, StartsInItsWorkingDirectory) {
  RankCommand command = Shell("pwd");
  command.working_directory = "/usr";
  ASSERT_TRUE(launcher().Launch(place(), command).ok());
  AwaitEnd();
  EXPECT_EQ(Output(), "/usr\n");
}

TEST_F(RankProcessTest, ClosesDescriptors) {
  const UniqueFd leak(fcntl(0, F_DUPFD, 100));  // Inheritable on purpose.
  ASSERT_TRUE(leak.valid());
  ASSERT_TRUE(LaunchShell("exec ls /proc/self/fd").ok());
  AwaitEnd();
  // Descriptor 3 is the directory that ls has opened.
  EXPECT_EQ(Output(), "0\n1\n2\n3\n");
}

TEST_F(RankProcessTest, SignalsHaveDefaultActions) {
  ASSERT_TRUE(LaunchShell("grep -E 'SigBlk|SigIgn' /proc/self/status").ok());
  AwaitEnd();
  // Accepts any setting for signals 32 and 33, which belong to glibc. posix_spawn may leave these
  // signals ignored, and glibc sets the handlers when needed.
  EXPECT_THAT(Output(), testing::MatchesRegex("SigBlk:\t0{16}\nSigIgn:\t0{7}[01][08]0{7}\n"));
}

TEST_F(RankProcessTest, LeadsASessionOfItsOwn) {
  ASSERT_TRUE(LaunchShell("read -r pid name state ppid group session rest < /proc/self/stat; "
                          "echo $((pid - group)) $((pid - session))")
                  .ok());
  AwaitEnd();
  EXPECT_EQ(Output(), "0 0\n");
}

struct SpawnFailure {
  const char* name;
  std::vector<std::string> argv;
  // nullptr: the rank's own directory.
  const char* working_directory;
  const char* cause;
};

class SpawnErrorTest : public RankTest, public testing::WithParamInterface<SpawnFailure> {};

TEST_P(SpawnErrorTest, IsRecordedInWords) {
  ASSERT_TRUE(WriteFileAtomically(File("no_interpreter"), "echo hello\n").ok());
  ASSERT_EQ(chmod(File("no_interpreter").c_str(), 0700), 0);
  const std::string working_directory =
      GetParam().working_directory == nullptr ? dir() : GetParam().working_directory;
  const RankCommand command = {GetParam().argv, {{"PATH", "/usr/bin:/bin"}}, working_directory};
  ASSERT_TRUE(launcher().Launch(place(), command).ok());
  const RankState state = AwaitEnd();
  EXPECT_EQ(state.presence, RankPresence::kExited);
  EXPECT_EQ(state.exit.exit_code, 127);
  EXPECT_THAT(state.exit.spawn_error, HasSubstr(GetParam().cause));
  EXPECT_FALSE(state.exit.node_at_fault) << "the command is the job's";
}

INSTANTIATE_TEST_SUITE_P(
    Causes, SpawnErrorTest,
    testing::Values(
        SpawnFailure{"NotInPath", {"no-such-program"}, "/", "no program `no-such-program` in PATH"},
        SpawnFailure{"Missing", {"/no/such/program"}, "/", "No such file or directory"},
        SpawnFailure{"NotExecutable", {"/etc/passwd"}, "/", "Permission denied"},
        SpawnFailure{"NoInterpreter", {"./no_interpreter"}, nullptr, "needs a #! line"},
        SpawnFailure{"NoDirectory", {"env"}, "/no/such/dir", "cannot enter working directory"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(RankProcessTest, SurvivesDeathOfItsStarter) {
  ASSERT_EQ(mkfifo(File("answer").c_str(), 0600), 0);
  const pid_t starter = fork();
  ASSERT_GE(starter, 0);
  if (starter == 0) {
    const bool launched =
        LaunchShell("echo started > word; read -r line < answer; exit $line").ok();
    _exit(launched ? 0 : 1);
  }
  int status = 1;
  waitpid(starter, &status, 0);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(AwaitWord(), "started");

  const absl::StatusOr<RankState> state = ReadRankState(place());
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->presence, RankPresence::kRunning);
  EXPECT_EQ(state->rank_pid, Shim().rank.pid);
  const absl::StatusOr<UniqueFd> watch = OpenExitWatch(dir());
  ASSERT_TRUE(watch.ok()) << watch.status();
  const UniqueFd answer(open(File("answer").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(write(answer.get(), "5\n", 2), 2);
  EXPECT_EQ(AwaitEnd().exit.exit_code, 5);
}

TEST_F(RankProcessTest, StartsOnlyOnce) {
  ASSERT_TRUE(LaunchShell("echo once; echo up > word; exec sleep 1000").ok());
  AwaitWord();
  EXPECT_EQ(LaunchShell("echo twice").code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(SignalRank(place(), RankSignal::kKill).ok());
  AwaitEnd();
  EXPECT_EQ(LaunchShell("echo thrice").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Output(), "once\n");
}

TEST_F(RankProcessTest, NeverStartedAndStartingAreTold) {
  EXPECT_EQ(ReadRankState(place())->presence, RankPresence::kNeverStarted);
  const UniqueFd lock_file(open(File(kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(fcntl(lock_file.get(), F_OFD_SETLK, &lock), 0);
  EXPECT_EQ(ReadRankState(place())->presence, RankPresence::kStarting);
  EXPECT_EQ(LaunchShell("exit 0").code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(RankProcessTest, KillReachesGrandchildrenAndThoseThatLeftTheGroup) {
  ASSERT_TRUE(LaunchShell("sleep 1000 & a=$!; setsid sleep 1001 & sleep 1002 & "
                          "echo $a $! > word; wait")
                  .ok());
  const std::vector<std::string> pids = absl::StrSplit(AwaitWord(), ' ');
  ASSERT_EQ(pids.size(), 2);
  ASSERT_TRUE(SignalRank(place(), RankSignal::kKill).ok());
  const RankState state = AwaitEnd();
  EXPECT_EQ(state.exit.signal, SIGKILL);
  EXPECT_FALSE(state.exit.out_of_memory);
  EXPECT_FALSE(state.processes_remain);
  for (const std::string& pid : pids) EXPECT_FALSE(ReadProcessStat(ToPid(pid)).has_value());
  EXPECT_TRUE(ChildrenOf(Shim().shim.pid).empty());
}

TEST_F(RankProcessTest, LeftoversAreKilledWhenTheRankLeaves) {
  ASSERT_TRUE(LaunchShell("sleep 1000 & echo $! > word; setsid sleep 1000 & "
                          "setsid -f sleep 1000; exit 0")
                  .ok());
  const pid_t leftover = ToPid(AwaitWord());
  EXPECT_EQ(AwaitEnd().exit.exit_code, 0);
  EXPECT_FALSE(ReadProcessStat(leftover).has_value());
}

TEST_F(RankProcessTest, TerminateLetsTheRankSaveAndLeave) {
  ASSERT_EQ(mkfifo(File("nothing").c_str(), 0600), 0);
  ASSERT_TRUE(LaunchShell("trap 'echo saved; exit 143' TERM; echo up > word; "
                          "while :; do read -r line < nothing; done")
                  .ok());
  ASSERT_EQ(AwaitWord(), "up");
  ASSERT_TRUE(SignalRank(place(), RankSignal::kTerminate).ok());
  EXPECT_EQ(AwaitEnd().exit.exit_code, 143);
  EXPECT_THAT(Output(), HasSubstr("saved\n"));
  EXPECT_EQ(SignalRank(place(), RankSignal::kTerminate).code(), absl::StatusCode::kNotFound);
}

TEST_F(RankProcessTest, AUserSignalReachesOnlyTheRanksOwnProcess) {
  ASSERT_TRUE(LaunchShell("trap 'echo first' USR1; trap 'echo second; kill $!; exit 6' USR2; "
                          "sleep 600 & echo up > word; "
                          "while :; do wait $! && break; kill -0 $! || exit 7; done")
                  .ok());
  ASSERT_EQ(AwaitWord(), "up");
  ASSERT_TRUE(SignalRank(place(), RankSignal::kUser1).ok());
  ASSERT_TRUE(SignalRank(place(), RankSignal::kUser2).ok());
  EXPECT_EQ(AwaitEnd().exit.exit_code, 6) << "7: the child was ended";
  EXPECT_THAT(Output(), HasSubstr("first\n"));
  EXPECT_THAT(Output(), HasSubstr("second\n"));
  EXPECT_EQ(SignalRank(place(), RankSignal::kUser1).code(), absl::StatusCode::kNotFound);
}

// A launcher that does not forward SIGTERM. It waits for a child in a separate session.
TEST_F(RankProcessTest, TerminateReachesProcessesInSessionsOfTheirOwn) {
  ASSERT_EQ(mkfifo(File("nothing").c_str(), 0600), 0);
  ASSERT_TRUE(LaunchShell("trap : TERM; setsid /bin/sh -c \"trap 'echo child saved; exit' TERM; "
                          "echo up > word; while :; do read -r line < nothing; done\"; exit 5")
                  .ok());
  ASSERT_EQ(AwaitWord(), "up");
  ASSERT_TRUE(SignalRank(place(), RankSignal::kTerminate).ok());
  EXPECT_EQ(AwaitEnd().exit.exit_code, 5);
  EXPECT_THAT(Output(), HasSubstr("child saved\n"));
}

TEST_F(RankProcessTest, ShimIgnoresSignalsMeantForTheWorker) {
  ASSERT_EQ(mkfifo(File("step").c_str(), 0600), 0);
  ASSERT_TRUE(LaunchShell("echo up > word; read -r line < step; exit 4").ok());
  ASSERT_EQ(AwaitWord(), "up");
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) kill(Shim().shim.pid, signal);
  const UniqueFd step(open(File("step").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(write(step.get(), "\n", 1), 1);
  EXPECT_EQ(AwaitEnd().exit.exit_code, 4);
}

TEST_F(RankProcessTest, RankOutlivesItsShimAndIsStillFound) {
  ASSERT_TRUE(LaunchShell("sleep 1000 & echo up > word; wait").ok());
  ASSERT_EQ(AwaitWord(), "up");
  const ShimRecord shim = Shim();
  ASSERT_EQ(kill(shim.shim.pid, SIGKILL), 0);
  ASSERT_TRUE(AwaitGone(shim.shim.pid));
  EXPECT_EQ(ReadRankState(place())->presence, RankPresence::kRunning);
  const absl::StatusOr<UniqueFd> watch = OpenExitWatch(dir());
  ASSERT_TRUE(watch.ok()) << watch.status();

  ASSERT_EQ(kill(shim.rank.pid, SIGKILL), 0);  // Only the leader; its child keeps running.
  RankState state = AwaitEnd();
  EXPECT_EQ(state.presence, RankPresence::kVanished);
  EXPECT_EQ(state.exit.signal, SIGKILL);
  EXPECT_THAT(state.summary, HasSubstr("gone without an exit record"));
  EXPECT_TRUE(state.processes_remain);
  const std::vector<ProcessStat> left = MembersOfGroup(shim.rank.pid);
  ASSERT_EQ(left.size(), 1);
  ASSERT_TRUE(SignalRank(place(), RankSignal::kKill).ok());
  ASSERT_TRUE(AwaitGone(left[0].pid));
  EXPECT_FALSE(ReadRankState(place())->processes_remain);
}

// Waits until the rank's state meets the condition. Returns false after 10 s.
bool AwaitState(const RankPlace& place, const std::function<bool(const RankState&)>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto state = ReadRankState(place);
    if (state.ok() && condition(*state)) return true;
    std::this_thread::yield();
  }
  return false;
}

bool IsOverdue(const RankState& state) { return state.shim_overdue; }

TEST_F(RankProcessTest, AStoppedShimReportsOnceItIsContinued) {
  ASSERT_TRUE(LaunchShell("kill -STOP $PPID; exit 7").ok());
  ASSERT_TRUE(AwaitState(place(), IsOverdue));
  EXPECT_EQ(ReadRankState(place())->presence, RankPresence::kRunning) << "nobody knows its end yet";
  EXPECT_TRUE(SignalShim(place(), SIGCONT).ok());
  const RankState state = AwaitEnd();
  EXPECT_EQ(state.presence, RankPresence::kExited);
  EXPECT_EQ(state.exit.exit_code, 7);
  EXPECT_FALSE(state.shim_overdue);
}

TEST_F(RankProcessTest, AKilledShimLeavesAVanishedRank) {
  ASSERT_TRUE(LaunchShell("kill -STOP $PPID; exit 0").ok());
  ASSERT_TRUE(AwaitState(place(), IsOverdue));
  EXPECT_TRUE(SignalShim(place(), SIGKILL).ok());
  EXPECT_TRUE(AwaitState(place(), [](const RankState& state) {
    return state.presence == RankPresence::kVanished && !state.processes_remain;
  }));
  EXPECT_TRUE(absl::IsNotFound(SignalShim(place(), SIGCONT)));
}

TEST_F(RankProcessTest, AStoppedShimIsOverdueOnlyOnceItsRankHasEnded) {
  ASSERT_TRUE(LaunchShell("echo up > word; sleep 1000").ok());
  ASSERT_EQ(AwaitWord(), "up");
  const ShimRecord shim = Shim();
  ASSERT_EQ(kill(shim.shim.pid, SIGSTOP), 0);
  EXPECT_FALSE(ReadRankState(place())->shim_overdue) << "its rank runs";
  ASSERT_EQ(kill(shim.rank.pid, SIGKILL), 0);
  ASSERT_TRUE(AwaitState(place(), IsOverdue));
  ASSERT_TRUE(SignalShim(place(), SIGCONT).ok());
  EXPECT_EQ(AwaitEnd().presence, RankPresence::kExited);
}

// Another process, here the test itself, now has the pid of the recorded rank.
TEST_F(RankProcessTest, RecycledPidIsNeitherFoundNorSignalled) {
  const ProcessStat own = ReadProcessStat(getpid()).value();
  const ProcessId recycled = {own.pid, own.start_time - 1};
  ASSERT_TRUE(WriteShimRecord(dir(), {recycled, recycled, 1, BootId()}).ok());
  EXPECT_EQ(ReadRankState(place())->presence, RankPresence::kVanished);
  EXPECT_EQ(OpenExitWatch(dir()).status().code(), absl::StatusCode::kNotFound);
  for (const RankSignal signal : {RankSignal::kTerminate, RankSignal::kKill}) {
    EXPECT_EQ(SignalRank(place(), signal).code(), absl::StatusCode::kNotFound);
  }
}

TEST_F(RankProcessTest, RebootIsTold) {
  const ProcessStat own = ReadProcessStat(getpid()).value();
  const ProcessId same = {own.pid, own.start_time};
  ASSERT_TRUE(WriteShimRecord(dir(), {same, same, 1, "another boot"}).ok());
  const absl::StatusOr<RankState> state = ReadRankState(place());
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->presence, RankPresence::kVanished);
  EXPECT_THAT(state->summary, HasSubstr("machine was restarted"));
  EXPECT_EQ(SignalRank(place(), RankSignal::kKill).code(), absl::StatusCode::kNotFound);
}

TEST_F(RankProcessTest, TornRecordCountsAsVanished) {
  ASSERT_TRUE(WriteFileAtomically(File(kExitFile), "{\"exit_code\":").ok());
  EXPECT_EQ(ReadRankState(place())->presence, RankPresence::kVanished);
}

TEST_F(RankProcessTest, RefusesBadCommands) {
  const std::vector<RankCommand> commands = {
      {{}, {}, "/"},
      {{""}, {}, "/"},
      {{"env"}, {}, "relative"},
      {{"env"}, {{"A=B", "c"}}, "/"},
      {{"env"}, {{"A", std::string("a\0b", 3)}}, "/"},
      {{"env", "\xff"}, {}, "/"},
  };
  for (const RankCommand& command : commands) {
    EXPECT_EQ(launcher().Launch(place(), command).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(ReadRankState(place())->presence, RankPresence::kNeverStarted);
}

TEST_F(RankProcessTest, FailedStartLeavesTheDirectoryUnused) {
  const RankCommand command = Shell("exit 6");
  EXPECT_EQ(RankLauncher("/no/such/worker").Launch(place(), command).code(),
            absl::StatusCode::kNotFound);
  const absl::Status no_shim = RankLauncher("/bin/false").Launch(place(), command);
  EXPECT_THAT(std::string(no_shim.message()), HasSubstr("exited without an answer"));
  ASSERT_EQ(mkdir(File(kOutputFile).c_str(), 0700), 0);
  const absl::Status no_output = launcher().Launch(place(), command);
  EXPECT_THAT(std::string(no_output.message()), HasSubstr("output.log: Is a directory"));
  EXPECT_EQ(ReadRankState(place())->presence, RankPresence::kNeverStarted);

  ASSERT_EQ(rmdir(File(kOutputFile).c_str()), 0);
  ASSERT_TRUE(launcher().Launch(place(), command).ok());
  EXPECT_EQ(AwaitEnd().exit.exit_code, 6);
}

TEST_F(RankProcessTest, LogTailShowsTheLastLines) {
  ASSERT_TRUE(LaunchShell("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done").ok());
  AwaitEnd();
  const std::string tail = ReadLogTail(dir());
  EXPECT_LE(tail.size(), 8192);
  EXPECT_GT(tail.size(), 8000);
  EXPECT_EQ(tail.substr(0, 5), "line ");
  EXPECT_THAT(tail, HasSubstr("line 2999\n"));
}

TEST_F(RankProcessTest, LeavesProcessesOfItsUserForTheWorker) {
  ASSERT_TRUE(LaunchShell("grep processes /proc/self/limits > limits").ok());
  const RankState state = AwaitEnd();
  ASSERT_EQ(state.exit.exit_code, 0);
  // The line has the form "Max processes SOFT HARD processes".
  const std::vector<std::string> words =
      absl::StrSplit(*ReadSmallFile(File("limits")), ' ', absl::SkipWhitespace());
  int64_t soft = 0, hard = 0;
  ASSERT_TRUE(absl::SimpleAtoi(words[2], &soft) && absl::SimpleAtoi(words[3], &hard));
  rlimit own{};
  ASSERT_EQ(getrlimit(RLIMIT_NPROC, &own), 0);
  const auto most = std::min<rlim_t>(own.rlim_cur, static_cast<rlim_t>(ProcessesOfMachine()));
  EXPECT_EQ(static_cast<rlim_t>(soft), most - std::min<rlim_t>(512, most / 8));
  EXPECT_EQ(hard, soft) << "the rank cannot take it back";
}

// Waits up to 10 s until the process is running this program and is asleep.
bool AwaitSleepOf(pid_t pid, const std::string& program) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const std::string path = absl::StrCat("/proc/", pid, "/stat");
  while (std::chrono::steady_clock::now() < deadline) {
    const absl::StatusOr<std::string> stat = ReadSmallFile(path);
    if (stat.ok() && absl::StrContains(*stat, absl::StrCat("(", program, ") S"))) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST_F(RankProcessTest, AProcessThatNoSignalReachesIsToldFromOneThatRuns) {
  ASSERT_EQ(mkdir(File("hung").c_str(), 0700), 0);
  std::optional<HungFileSystem> hung(std::in_place, File("hung"));
  if (!hung->mounted()) GTEST_SKIP() << HungFileSystem::kSkipped;
  ASSERT_TRUE(LaunchShell("echo up > word; while [ ! -e go ]; do sleep 0.01; done; "
                          "exec cat hung/file")
                  .ok());
  ASSERT_EQ(AwaitWord(), "up");
  EXPECT_FALSE(WaitsInKernel(place()));
  ASSERT_TRUE(WriteFileAtomically(File("go"), "").ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  ASSERT_TRUE(AwaitSleepOf(Shim().rank.pid, "cat"))
      << "it would die of the first signal before it reads";
  while (!WaitsInKernel(place()) && std::chrono::steady_clock::now() < deadline) {
    // Repeats the kill until the process is in uninterruptible sleep. The process enters this state
    // after it has received a signal.
    SignalRank(place(), RankSignal::kKill).IgnoreError();
    std::this_thread::yield();
  }
  EXPECT_TRUE(WaitsInKernel(place()));
  EXPECT_EQ(ReadRankState(place())->presence, RankPresence::kRunning);
  hung.reset();
  EXPECT_EQ(AwaitEnd().exit.signal, SIGKILL);
  EXPECT_FALSE(WaitsInKernel(place()));
}

// Simulates a machine that swaps. The shim does not answer in time and is killed.
TEST_F(RankProcessTest, AShimThatDoesNotAnswerLeavesNoZombie) {
  const std::string shim = File("shim.sh");
  ASSERT_TRUE(WriteFileAtomically(shim, "#!/bin/sh\nexec sleep 600\n").ok());
  ASSERT_EQ(chmod(shim.c_str(), 0700), 0);
  const RankLauncher launcher(shim, std::chrono::milliseconds(300));
  EXPECT_EQ(launcher.Launch(place(), Shell("true")).code(), absl::StatusCode::kDeadlineExceeded);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  bool is_left = true;
  while (is_left && std::chrono::steady_clock::now() < deadline) {
    siginfo_t info = {};
    is_left = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    std::this_thread::yield();
  }
  EXPECT_FALSE(is_left) << "a child that nobody has reaped";
}

TEST_F(RankProcessTest, WithoutAThreadAShimThatDoesNotAnswerIsReapedAtALaterLaunch) {
  const std::string shim = File("shim.sh");
  ASSERT_TRUE(WriteFileAtomically(shim, "#!/bin/sh\nexec sleep 600\n").ok());
  ASSERT_EQ(chmod(shim.c_str(), 0700), 0);
  const RankLauncher launcher(shim, std::chrono::milliseconds(20));
  {
    const NoThreads none;
    EXPECT_EQ(launcher.Launch(place(), Shell("true")).code(), absl::StatusCode::kDeadlineExceeded);
  }
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0) << "it has ended, nobody has reaped it";
  EXPECT_FALSE(launcher.Launch(RankPlace("nowhere"), Shell("true")).ok());
  EXPECT_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace trainyard::worker
