// Tests that a job cannot harm its node, whatever the job does to its files and processes, and
// whatever data the worker's disk loses. The node keeps working, its other jobs are not disturbed,
// no rank runs twice, and every slot becomes free again.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/hung_file_system.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class IsolationTest : public testing::Test {
 protected:
  // Submits a job with one rank that runs `script` in /bin/sh and is never restarted.
  int64_t Submit(const std::string& name, const std::string& script,
                 const std::string& more = "restart: {max_restarts: 0}\n") {
    const std::string path = cluster_.directory() + "/" + name + ".sh";
    WriteFile(path, script);
    return cluster_.Submit(
        cluster_.WriteJob(name, absl::StrCat("name: ", name, "\nresources: {device: cpu}\n", more,
                                             "command: [/bin/sh, ", path, "]\n")));
  }

  std::string Worker() const { return cluster_.directory() + "/worker0"; }
  std::string Records(int64_t job_id) const {
    return absl::StrCat(Worker(), "/attempts/", job_id, "/1/rank0");
  }
  std::string RunDir(int64_t job_id) const {
    return absl::StrCat(Worker(), "/runs/", job_id, "/1/rank0");
  }

  // Returns a script line that writes the script's pid into a file of the test's directory.
  std::string SayPid(const std::string& name) const {
    return absl::StrCat("echo $$ > ", cluster_.directory(), "/pid.tmp && mv ", cluster_.directory(),
                        "/pid.tmp ", PidFile(name), "; ");
  }
  std::string PidFile(const std::string& name) const {
    return absl::StrCat(cluster_.directory(), "/", name, ".pid");
  }
  pid_t AwaitPid(const std::string& name) const {
    EXPECT_TRUE(Eventually([&] { return fs::exists(PidFile(name)); })) << cluster_.DaemonLogs();
    int pid = 0;
    std::string text = ReadFile(PidFile(name));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    EXPECT_TRUE(absl::SimpleAtoi(text, &pid)) << text;
    return pid;
  }
  static bool Lives(pid_t pid) {
    const std::string stat = ReadFile(absl::StrCat("/proc/", pid, "/stat"));
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
  }
  static bool AwaitGone(pid_t pid) {
    return Eventually([&] { return !Lives(pid); }, Seconds(20));
  }

  void RestartWorker() {
    cluster_.KillWorker(0);
    cluster_.StartWorker(0);
  }

  // Checks that the node's only slot is free and that a job can run on it.
  void ExpectSlotIsFree(const std::string& name) {
    const v1::Job job = cluster_.WaitForEnd(Submit(name, "exit 0"), Seconds(30));
    EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << cluster_.DaemonLogs();
  }

  MiniCluster cluster_{1};
};

TEST_F(IsolationTest, FifosInItsOwnDirectoryStopNeitherWorkerNorNeighbours) {
  const int64_t job_id =
      Submit("fifos",
             "for f in output.log exit.json shim.json start.json lock spec.json.tmp; do "
             "mkfifo $f; done; rm -f $TRAINYARD_TELEMETRY; mkfifo $TRAINYARD_TELEMETRY; " +
                 SayPid("fifos") + "exec sleep 1000");
  const pid_t rank = AwaitPid("fifos");
  RestartWorker();
  EXPECT_EQ(cluster_.Cli({"kill", "-y", std::to_string(job_id)}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(job_id, Seconds(30)).state(), v1::JOB_STATE_STOPPED);
  EXPECT_FALSE(Lives(rank));
  ExpectSlotIsFree("after-fifos");
}

TEST_F(IsolationTest, FifosAmongTheRecordsStopNeitherWorkerNorNeighbours) {
  const int64_t job_id = Submit("records", SayPid("records") + "exec sleep 1000");
  const pid_t rank = AwaitPid("records");
  for (const char* name : {"output.log", "shim.json", "exit.json"}) {
    const std::string path = absl::StrCat(Records(job_id), "/", name);
    fs::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  }
  RestartWorker();
  EXPECT_EQ(cluster_.Cli({"kill", "-y", std::to_string(job_id)}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(job_id, Seconds(30)).state(), v1::JOB_STATE_STOPPED)
      << cluster_.DaemonLogs();
  EXPECT_FALSE(Lives(rank));
  ExpectSlotIsFree("after-records");
}

// A process that follows the link or enters the mounted file system blocks forever.
TEST_F(IsolationTest, FileSystemThatHangsInItsOwnDirectoryStopsNeitherWorkerNorNeighbours) {
  const std::string dead = cluster_.directory() + "/dead";
  fs::create_directory(dead);
  const HungFileSystem hung(dead);
  if (!hung.mounted()) GTEST_SKIP() << HungFileSystem::kSkipped;
  const int64_t linker =
      Submit("linker", absl::StrCat("cd /; rm -rf $TRAINYARD_RUN_DIR; ln -s ", dead,
                                    " $TRAINYARD_RUN_DIR; ", SayPid("linker"), "exec sleep 1000"));
  AwaitPid("linker");
  EXPECT_EQ(cluster_.Cli({"kill", "-y", std::to_string(linker)}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(linker, Seconds(30)).state(), v1::JOB_STATE_STOPPED)
      << cluster_.DaemonLogs();
  const int64_t mounter =
      Submit("mounter", "mkdir deep; rm -f $TRAINYARD_TELEMETRY; mkdir $TRAINYARD_TELEMETRY; " +
                            SayPid("mounter") + "exec sleep 1000");
  AwaitPid("mounter");
  const HungFileSystem deep(RunDir(mounter) + "/deep");
  const HungFileSystem telemetry(RunDir(mounter) + "/telemetry.jsonl");
  RestartWorker();
  EXPECT_EQ(cluster_.Cli({"kill", "-y", std::to_string(mounter)}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(mounter, Seconds(30)).state(), v1::JOB_STATE_STOPPED)
      << cluster_.DaemonLogs();
  ExpectSlotIsFree("after-hung");
  cluster_.worker(0).Signal(SIGTERM);
  EXPECT_TRUE(cluster_.worker(0).Wait(Seconds(10)).has_value()) << "it can leave";
}

TEST_F(IsolationTest, WhatIsPutInTheWayOfTheNextAttemptHarmsNoNode) {
  const int64_t job_id =
      Submit("obstacle", "[ $TRAINYARD_ATTEMPT = 1 ] || exit 0; touch ../../2; exit 1",
             "restart: {max_restarts: 1, backoff: 0}\n");
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 2);
  EXPECT_FALSE(cluster_.Nodes()["node0"].has_health());
}

TEST_F(IsolationTest, DirectoryInThePlaceOfItsTelemetryIsForgottenWithItsJob) {
  const int64_t job_id =
      Submit("directory", "rm -f $TRAINYARD_TELEMETRY; mkdir $TRAINYARD_TELEMETRY; exit 0");
  EXPECT_EQ(cluster_.WaitForEnd(job_id, Seconds(30)).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_TRUE(Eventually([&] { return !fs::exists(Records(job_id)); }, Seconds(20)))
      << "its streams never count as stored";
}

TEST_F(IsolationTest, RankThatRemovesAllItsFilesRunsOnceAndEndsWell) {
  const std::string starts = cluster_.directory() + "/starts";
  const int64_t job_id =
      Submit("remover", absl::StrCat("echo start >> ", starts, "; rm -rf ./* ./.[!.]*; ",
                                     SayPid("remover"), "until [ -e ", cluster_.directory(),
                                     "/go ]; do sleep 0.05; done; rm -rf ../rank0; exit 0"));
  AwaitPid("remover");
  RestartWorker();
  WriteFile(cluster_.directory() + "/go", "");
  EXPECT_EQ(cluster_.WaitForEnd(job_id, Seconds(30)).state(), v1::JOB_STATE_SUCCEEDED)
      << cluster_.DaemonLogs();
  EXPECT_EQ(ReadFile(starts), "start\n");
  ExpectSlotIsFree("after-remover");
}

TEST_F(IsolationTest, RankWhoseRecordsAreLostIsFoundAndKilled) {
  const int64_t job_id = Submit("unrecorded", SayPid("unrecorded") + "exec sleep 1000");
  const pid_t rank = AwaitPid("unrecorded");
  cluster_.KillWorker(0);
  fs::remove_all(Records(job_id));
  cluster_.StartWorker(0);
  EXPECT_EQ(cluster_.Cli({"kill", "-y", std::to_string(job_id)}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(job_id, Seconds(30)).state(), v1::JOB_STATE_STOPPED)
      << cluster_.DaemonLogs();
  EXPECT_FALSE(Lives(rank));
  ExpectSlotIsFree("after-unrecorded");
}

TEST_F(IsolationTest, DamagedCommandOfAnAttemptEndsItBeforeTheNextOneRuns) {
  const std::string starts = cluster_.directory() + "/starts";
  const int64_t job_id =
      Submit("damaged",
             absl::StrCat("echo $TRAINYARD_ATTEMPT >> ", starts, "; trap 'exit 143' TERM; ",
                          SayPid("damaged"),
                          "[ $TRAINYARD_ATTEMPT = 1 ] || exit 0; while :; do sleep 0.05; done"),
             "restart: {max_restarts: 1, backoff: 0}\n");
  const pid_t first = AwaitPid("damaged");
  cluster_.KillWorker(0);
  WriteFile(absl::StrCat(Worker(), "/attempts/", job_id, "/1/start.pb"), "damaged");
  cluster_.StartWorker(0);
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << cluster_.DaemonLogs();
  EXPECT_FALSE(Lives(first));
  EXPECT_EQ(ReadFile(starts), "1\n2\n");
  ASSERT_EQ(job.attempts_size(), 2);
  EXPECT_THAT(job.attempts(0).verdict().log_tail(), HasSubstr("start.pb"))
      << job.attempts(0).DebugString();
}

TEST_F(IsolationTest, ProcessesOfALostDataDirectoryAreEndedBeforeItsSlotsAreOffered) {
  const int64_t job_id =
      Submit("stray", "trap '' TERM; setsid sleep 1000 & " + SayPid("stray") + "wait");
  const pid_t rank = AwaitPid("stray");
  // Waits until the controller has seen the attempt running. Otherwise the attempt's end would not
  // fail the job.
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(job_id).state() == v1::JOB_STATE_RUNNING; }));
  cluster_.KillWorker(0);
  fs::remove_all(Worker());
  cluster_.StartWorker(0);
  EXPECT_TRUE(AwaitGone(rank));
  // The controller need not wait 10 minutes for the lease to expire: a new node has replaced the
  // old node. The replacement proves that the old node's ranks are gone.
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  EXPECT_EQ(job.verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
  EXPECT_THAT(job.verdict().summary(), HasSubstr("returned as the new node"));
  ExpectSlotIsFree("after-stray");
}

TEST_F(IsolationTest, AStoppedShimIsContinuedAndReportsItsRank) {
  const v1::Job job =
      cluster_.WaitForEnd(Submit("stops-its-shim", "kill -STOP $PPID; exit 0"), Seconds(30));
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << cluster_.DaemonLogs();
  ExpectSlotIsFree("after");
}

// Like a debugger, the tracer keeps its tracee stopped even after SIGCONT.
constexpr char kTracer[] = R"(import ctypes, sys, time
SEIZE, INTERRUPT = 0x4206, 0x4207
trace = ctypes.CDLL(None).ptrace
shim = int(sys.argv[1])
if trace(SEIZE, shim, None, None) or trace(INTERRUPT, shim, None, None):
    sys.exit("ptrace is refused")
open(sys.argv[2], "w").close()
time.sleep(1000)
)";

TEST_F(IsolationTest, AShimThatStaysStoppedIsKilled) {
  const std::string tracer = cluster_.directory() + "/tracer.py";
  const std::string held = cluster_.directory() + "/held";
  WriteFile(tracer, kTracer);
  const int64_t id =
      Submit("holds-its-shim",
             absl::StrCat("/usr/bin/python3 ", tracer, " $PPID ", held, " &\nwhile [ ! -e ", held,
                          " ] && kill -0 $!; do sleep 0.01; done\nexit 0\n"));
  const v1::Job job = cluster_.WaitForEnd(id, Seconds(60));
  if (!fs::exists(held)) GTEST_SKIP() << "needs the right to trace processes of its own user";
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED) << cluster_.DaemonLogs();
  ExpectSlotIsFree("after");
}

TEST_F(IsolationTest, ProcessInASessionOfItsOwnHoldsTheSlotUntilItIsGone) {
  const int64_t job_id = Submit("escaped", "setsid sh -c '" + SayPid("escaped") +
                                               "while :; do sleep 1; done' & exec sleep 1000");
  const pid_t child = AwaitPid("escaped");
  const std::string shim = ReadFile(Records(job_id) + "/shim.json");
  const std::size_t at = shim.find("\"shim_pid\":");
  ASSERT_NE(at, std::string::npos) << shim;
  kill(static_cast<pid_t>(std::stol(shim.substr(at + 11))), SIGKILL);
  EXPECT_EQ(cluster_.Cli({"kill", "-y", std::to_string(job_id)}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(job_id, Seconds(30)).state(), v1::JOB_STATE_STOPPED);
  ExpectSlotIsFree("after-escaped");
  EXPECT_FALSE(Lives(child)) << "the slot was given away while a process of the rank lived";
}

TEST_F(IsolationTest, RankThatForksWithoutEndEndsItsOwnJobAndNoOther) {
  if (access("/sys/fs/cgroup/cgroup.procs", W_OK) != 0 &&
      access("/sys/fs/cgroup/unified/cgroup.procs", W_OK) != 0) {
    GTEST_SKIP() << "this user may not make control groups here";
  }
  cluster_.KillWorker(0);
  cluster_.StartWorker(0, {"--processes-limit", "200"});
  const int64_t job_id = Submit("bomb",
                                "trap '' TERM; n=0; while [ $n -lt 2000 ]; do n=$((n+1)); "
                                "env -i setsid sleep 1000 & done; wait");
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  EXPECT_EQ(job.verdict().cause(), v1::VERDICT_CAUSE_LIMIT_EXCEEDED) << job.DebugString();
  EXPECT_THAT(job.verdict().summary(), HasSubstr("--processes-limit"));
  EXPECT_EQ(job.attempts_size(), 1) << "it would do the same again";
  ExpectSlotIsFree("after-bomb");
}

// The two paths differ because of a symbolic link, so the controller cannot see that both jobs
// write to the same directory.
TEST(SharedDirectoryTest, SecondLiveJobIsRefusedUnderEveryName) {
  MiniCluster cluster(2);
  const std::string tokens = cluster.MakeTokens();
  const auto submit = [&](const std::string& name, const std::string& folder) {
    const std::string dir = absl::StrCat(cluster.directory(), "/", folder);
    return cluster.Submit(cluster.WriteJob(
        name, absl::StrReplaceAll(TinyJob(name, tokens, 1, 1'000'000),
                                  {{"checkpoint: {", "checkpoint: {dir: " + dir + ", "}})));
  };
  fs::create_directory_symlink(cluster.directory() + "/ck", cluster.directory() + "/alias");
  const int64_t first = submit("first", "ck");
  ASSERT_TRUE(cluster.WaitForStep(first, 10)) << cluster.DaemonLogs();
  const int64_t second = submit("second", "alias");
  const v1::Job refused = cluster.WaitForEnd(second);
  EXPECT_EQ(refused.state(), v1::JOB_STATE_FAILED) << refused.DebugString();
  ASSERT_EQ(refused.attempts_size(), 1);
  EXPECT_EQ(refused.attempts(0).verdict().exit_code(), 78);
  EXPECT_THAT(refused.attempts(0).verdict().log_tail(),
              HasSubstr(absl::StrCat("is in use by job ", first, ", which has not ended")));
  const int64_t step = cluster.Job(first).progress().step();
  EXPECT_EQ(cluster.StopAfter(first, step + 20).attempts_size(), 1);
}

}  // namespace
}  // namespace trainyard::test
