// Tests `trainyard exec` and `trainyard shell` with the real programs.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/child_process.h"
#include "tests/integration/mini_cluster.h"
#include "tests/integration/terminal_process.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ExecTest : public testing::Test {
 protected:
  ExecTest() : cluster_(2, 2) {
    std::filesystem::create_directories(PathOf("work"));
    const std::string yaml = absl::StrCat(
        "name: long.job\ncommand: [sleep, '1000']\nworking_directory: ", PathOf("work"),
        "\nenv: {COLOR: green}\nresources: {nodes: 2, slots_per_node: 2, device: cpu}\n");
    job_ = cluster_.Submit(cluster_.WriteJob("long", yaml));
    EXPECT_TRUE(Eventually([&] { return cluster_.RankPid(job_, 1, 3) != 0; }))
        << cluster_.DaemonLogs();
    EXPECT_TRUE(Eventually([&] { return cluster_.Job(job_).state() == v1::JOB_STATE_RUNNING; }));
  }

  std::string PathOf(const std::string& name) const {
    return absl::StrCat(cluster_.directory(), "/", name);
  }

  CommandResult Exec(const std::string& rank, std::vector<std::string> command) const {
    command.insert(command.begin(), {"exec", absl::StrCat(job_, ".", rank), "--"});
    return cluster_.Cli(command);
  }

  std::vector<std::string> Trainyard(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {ProgramPath("trainyard"), "--server", cluster_.address()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }

  // Runs a line of a shell in which `$EXEC` is `trainyard exec JOB`.
  CommandResult Pipe(const std::string& line) const {
    const std::string exec =
        absl::StrCat(ProgramPath("trainyard"), " --server ", cluster_.address(), " exec ", job_);
    return RunCommand({"/bin/sh", "-c", absl::StrCat("EXEC='", exec, "'; ", line)});
  }

  // Starts a session beside rank 0 whose processes ignore signals that ask to end: the command, and
  // a process in a session of its own. Returns the client.
  std::unique_ptr<ChildProcess> StartStubborn() {
    const std::string script =
        absl::StrCat("trap '' TERM HUP INT; echo $$ > ", PathOf("pids"),
                     "; setsid sh -c 'trap \"\" TERM HUP; "
                     "echo $$ >> ",
                     PathOf("pids"), "; while :; do sleep 1; done' & while :; do sleep 1; done");
    auto client = std::make_unique<ChildProcess>(
        Trainyard({"exec", absl::StrCat(job_), "-n", "--", "sh", "-c", script}), PathOf("client"));
    EXPECT_TRUE(Eventually([&] { return Pids().size() == 2; })) << ReadFile(PathOf("client"));
    return client;
  }

  std::vector<pid_t> Pids() const {
    std::vector<pid_t> pids;
    std::istringstream text(ReadFile(PathOf("pids")));
    for (pid_t pid = 0; text >> pid;) pids.push_back(pid);
    return pids;
  }

  // True once no process of StartStubborn runs.
  bool NothingRuns() const {
    return Eventually(
        [&] {
          for (const pid_t pid : Pids()) {
            if (kill(pid, 0) == 0) return false;
          }
          return true;
        },
        Seconds(15));
  }

  MiniCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(ExecTest, RunsInTheEnvironmentOfTheRankAndReturnsItsExitCode) {
  const CommandResult result = Exec(
      "3", {"sh", "-c", "echo $RANK $LOCAL_RANK $COLOR $PWD ${TRAINYARD_TELEMETRY:-none}; exit 7"});
  EXPECT_EQ(result.exit_code, 7) << result.error;
  EXPECT_EQ(result.output, absl::StrCat("3 1 green ", PathOf("work"), " none\n"));
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(Exec("0", {"sh", "-c", "kill -KILL $$"}).exit_code, 137);
  const CommandResult missing = Exec("0", {"no-such-program"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_THAT(missing.error, HasSubstr("no-such-program"));
  EXPECT_EQ(
      cluster_.Cli({"exec", "long.job", "--rank", "2", "--", "sh", "-c", "echo $RANK"}).output,
      "2\n");
  EXPECT_EQ(cluster_.Cli({"exec", "long.job.1", "--", "sh", "-c", "echo $RANK"}).output, "1\n");
}

TEST_F(ExecTest, PassesInputAndBothOutputsUnchanged) {
  CommandResult result = Pipe("printf 'a\\0\\377b' | $EXEC -- od -An -tx1");
  EXPECT_EQ(result.output, " 61 00 ff 62\n") << result.error;
  result = Pipe("$EXEC -- sh -c 'echo out; echo error >&2; printf no-newline'");
  EXPECT_EQ(result.output, "out\nno-newline");
  EXPECT_EQ(result.error, "error\n");
  // More than all buffers on the way, in both directions, with a slow reader at the end.
  result = Pipe("head -c 20000000 /dev/urandom > " + PathOf("random") + "; $EXEC -- cat < " +
                PathOf("random") + " | (sleep 0.3; cmp - " + PathOf("random") + ") && echo same");
  EXPECT_EQ(result.output, "same\n") << result.error;
  result = Pipe("yes | $EXEC -- head -n 1");
  EXPECT_EQ(result.output, "y\n");
  EXPECT_EQ(result.exit_code, 0) << "a command need not read all input";
  result = Pipe(
      "for rank in 0 1 2; do echo $rank; done | while read rank; do $EXEC.$rank -n -- sh "
      "-c 'echo $RANK'; done");
  EXPECT_EQ(result.output, "0\n1\n2\n") << "with -n, the loop keeps its input";
}

TEST_F(ExecTest, IsRecordedWithItsUser) {
  ASSERT_EQ(Exec("2", {"echo", "a b"}).exit_code, 0);
  const CommandResult described = cluster_.Cli({"describe", absl::StrCat(job_)});
  EXPECT_THAT(described.output, HasSubstr("ran `echo a b` beside rank 2 of attempt 1 on node "));
  const v1::GetJobResponse response = cluster_.Described(job_);
  const v1::Event& newest = response.events(response.events_size() - 1);
  ASSERT_TRUE(newest.has_exec_opened()) << newest.DebugString();
  EXPECT_THAT(newest.actor(), testing::StartsWith("user "));
  EXPECT_TRUE(newest.actor_verified());
  EXPECT_EQ(newest.exec_opened().rank(), 2);
}

TEST_F(ExecTest, EndsWithTheRank) {
  const auto client = StartStubborn();
  ASSERT_EQ(kill(cluster_.RankPid(job_, 1, 0), SIGKILL), 0);
  EXPECT_EQ(client->Wait(), 125);
  EXPECT_THAT(ReadFile(PathOf("client")), HasSubstr("rank 0 of attempt 1 of job 1 has ended"));
  EXPECT_TRUE(NothingRuns());
}

TEST_F(ExecTest, EndsWithTheClient) {
  const auto client = StartStubborn();
  client->Signal(SIGKILL);
  EXPECT_TRUE(NothingRuns());
  EXPECT_EQ(cluster_.Job(job_).state(), v1::JOB_STATE_RUNNING);
}

TEST_F(ExecTest, TheSecondCtrlCEndsTheSession) {
  const auto client = StartStubborn();
  client->Signal(SIGINT);
  EXPECT_EQ(client->Wait(Seconds(1)), std::nullopt) << "the command ignores SIGINT";
  client->Signal(SIGINT);
  EXPECT_EQ(client->Wait(), 130);
  EXPECT_TRUE(NothingRuns());
}

TEST_F(ExecTest, TheFirstCtrlCIsPassedToTheCommand) {
  ChildProcess client(Trainyard({"exec", absl::StrCat(job_), "-n", "--", "sh", "-c",
                                 "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep "
                                 "0.1; done"}),
                      PathOf("client"));
  ASSERT_TRUE(
      Eventually([&] { return ReadFile(PathOf("client")).find("ready") != std::string::npos; }));
  client.Signal(SIGINT);
  EXPECT_EQ(client.Wait(), 3);
  EXPECT_THAT(ReadFile(PathOf("client")), HasSubstr("caught"));
}

TEST_F(ExecTest, EndsWithTheWorker) {
  const auto client = StartStubborn();
  for (int node = 0; node < 2; ++node) cluster_.KillWorker(node);
  EXPECT_EQ(client->Wait(), 125);
  EXPECT_THAT(ReadFile(PathOf("client")), HasSubstr("the worker of the node has stopped"));
  EXPECT_TRUE(NothingRuns());
}

TEST_F(ExecTest, ALostSessionProgramIsNamedAndItsCommandKilled) {
  const auto client = StartStubborn();
  std::istringstream stat(ReadFile(absl::StrCat("/proc/", Pids()[0], "/stat")));
  std::string field;
  pid_t parent = 0;
  stat >> field >> field >> field >> parent;
  ASSERT_EQ(ReadFile(absl::StrCat("/proc/", parent, "/comm")), "trainyard-exec\n");
  ASSERT_EQ(kill(parent, SIGKILL), 0);
  EXPECT_EQ(client->Wait(), 125);
  EXPECT_THAT(ReadFile(PathOf("client")), HasSubstr("the connection to the command on node"));
  EXPECT_TRUE(Eventually([&] { return kill(Pids()[0], 0) != 0; }));
  // The other process has left the session. It ends with the rank.
  ASSERT_EQ(kill(cluster_.RankPid(job_, 1, 0), SIGKILL), 0);
  EXPECT_TRUE(NothingRuns());
}

TEST_F(ExecTest, EndsWithTheController) {
  const auto client = StartStubborn();
  cluster_.KillController();
  EXPECT_EQ(client->Wait(), 125);
  EXPECT_THAT(ReadFile(PathOf("client")), AllOf(HasSubstr("connection to the controller at"),
                                                HasSubstr("the command was ended")));
  EXPECT_TRUE(NothingRuns());
}

TEST_F(ExecTest, RefusesWithOneLine) {
  CommandResult result = Exec("4", {"true"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.error, "error: job 1 (long.job) has no rank 4; its ranks are 0 to 3\n");
  result = cluster_.Cli({"exec", "nothing", "--", "true"});
  EXPECT_EQ(result.exit_code, 125);
  result = cluster_.Cli({"exec", "1"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.error, HasSubstr("for a shell, use `trainyard shell JOB[.RANK]`"));
  result = cluster_.Cli({"shell", "1"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.error, HasSubstr("standard input and output must be a terminal"));
  result = Exec("0", {"echo", std::string(70'000, 'x')});
  EXPECT_THAT(result.error, HasSubstr("the command has 70006 bytes; at most 65536 are allowed"));
  result = Exec("0", {"echo", "\xff"});
  EXPECT_THAT(result.error, HasSubstr("the command is not UTF-8"));
  cluster_.Cli({"kill", "1", "-y"});
  cluster_.WaitForEnd(1);
  result = Exec("0", {"true"});
  EXPECT_EQ(result.error,
            "error: job 1 (long.job) has ended (`trainyard logs 1` shows its output); exec needs a "
            "running rank\n");
}

TEST_F(ExecTest, ANodeHasALimitedNumberOfSessions) {
  std::vector<std::unique_ptr<ChildProcess>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<ChildProcess>(
        Trainyard({"exec", "1", "-n", "--", "sh", "-c", "echo ready; exec sleep 1000"}),
        PathOf(absl::StrCat("client", i))));
    ASSERT_TRUE(Eventually([&] { return !ReadFile(PathOf(absl::StrCat("client", i))).empty(); }));
  }
  const CommandResult refused = Exec("0", {"true"});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_THAT(refused.error, HasSubstr("has 8 open exec sessions, which is the maximum"));
  clients.front()->Signal(SIGTERM);
  EXPECT_EQ(clients.front()->Wait(), 143);
  EXPECT_EQ(Exec("0", {"true"}).exit_code, 0);
}

TEST(ExecArrayTest, AnElementIsNamedAsAJob) {
  MiniCluster cluster(1, 2);
  const int64_t array = cluster.Submit(cluster.WriteJob(
      "sweep",
      "name: sweep\ncommand: [sleep, '1000']\nmatrix: {env.COLOR: [red, green, blue]}\n"
      "torchrun_env: true\nresources: {device: cpu}\n"));
  const auto run = [&](const std::string& target) {
    return cluster.Cli({"exec", target, "-n", "--", "sh", "-c", "echo $COLOR-$RANK"});
  };
  ASSERT_TRUE(Eventually([&] { return run("sweep.1").output == "green-0\n"; }))
      << run("sweep.1").error << cluster.DaemonLogs();
  EXPECT_EQ(run("sweep.0.0").output, "red-0\n");
  EXPECT_THAT(run("sweep.1.5").error, HasSubstr("has no rank 5; its ranks are 0 to 0"));
  EXPECT_TRUE(Eventually([&] {
    return run("sweep.2").error.find("(sweep.2) is queued") != std::string::npos;
  })) << run("sweep.2").error;
  for (const std::string& target : {absl::StrCat(array), std::string("sweep.7")}) {
    const CommandResult result = run(target);
    EXPECT_EQ(result.exit_code, 125);
    EXPECT_THAT(result.error, HasSubstr("(sweep) is an array and has no ranks; name an element, "
                                        "such as sweep.0"));
  }
}

TEST_F(ExecTest, AShellHasATerminal) {
  TerminalProcess shell(Trainyard({"shell", absl::StrCat(job_, ".1")}));
  shell.Type("PS1='p''s '\nstty size; echo rank-$RANK-$COLOR\n");
  EXPECT_TRUE(shell.WaitForOutput("30 100")) << shell.output();
  EXPECT_TRUE(shell.WaitForOutput("rank-1-green")) << shell.output();
  EXPECT_FALSE(shell.IsCooked());
  shell.Resize(41, 87);
  EXPECT_TRUE(Eventually([&] {
    shell.Type("stty size\n");
    return shell.WaitForOutput("41 87", Seconds(0.5));
  })) << shell.output();
  // The interrupt must reach the program, not the prompt. Because of the quotes, the echo of the
  // typed line does not count as the program's output.
  shell.Type("sh -c \"echo beg''in; exec sleep 100\"\n");
  ASSERT_TRUE(shell.WaitForOutput("begin")) << shell.output();
  shell.Type("\x03");
  ASSERT_TRUE(shell.WaitForOutput("ps "));
  shell.Type("echo code-$?\n");
  EXPECT_TRUE(shell.WaitForOutput("code-130")) << shell.output();
  shell.Type("exit 9\n");
  EXPECT_EQ(shell.Wait(), 9) << shell.output();
  EXPECT_TRUE(shell.IsCooked());
}

TEST_F(ExecTest, TheTerminalIsRestoredAfterAnyEnd) {
  for (const int signal : {SIGTERM, SIGHUP, SIGSEGV}) {
    TerminalProcess shell(Trainyard({"shell", absl::StrCat(job_)}));
    shell.Type("echo re''ady\n");
    ASSERT_TRUE(shell.WaitForOutput("ready")) << shell.output();
    ASSERT_FALSE(shell.IsCooked());
    shell.Signal(signal);
    EXPECT_EQ(shell.Wait(), signal == SIGSEGV ? 128 + SIGSEGV : 130);
    EXPECT_TRUE(shell.IsCooked()) << signal;
  }
  TerminalProcess shell(Trainyard({"shell", absl::StrCat(job_)}));
  shell.Type("echo re''ady\n");
  ASSERT_TRUE(shell.WaitForOutput("ready")) << shell.output();
  cluster_.KillController();
  EXPECT_EQ(shell.Wait(), 125);
  EXPECT_TRUE(shell.IsCooked());
  EXPECT_THAT(shell.output(), HasSubstr("the command was ended"));
}

}  // namespace
}  // namespace trainyard::test
