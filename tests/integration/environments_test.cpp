// Tests, with the real programs, the software that a job requests and `trainyard run`.
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

class EnvironmentsTest : public testing::Test {
 protected:
  EnvironmentsTest() : cluster_(2, 2) {}

  std::string PathOf(const std::string& name) const {
    return absl::StrCat(cluster_.directory(), "/", name);
  }

  // Makes a virtual environment, or, without the Python module `venv`, a directory like one.
  std::string MakeVenv() {
    const std::string venv = PathOf("venv");
    ChildProcess made({"/usr/bin/env", "python3", "-m", "venv", "--without-pip", venv},
                      PathOf("venv.log"));
    if (made.Wait(Seconds(60)) == 0) return venv;
    std::filesystem::create_directories(venv + "/bin");
    std::filesystem::create_symlink("/usr/bin/python3", venv + "/bin/python");
    return venv;
  }

  MiniCluster cluster_;
};

TEST_F(EnvironmentsTest, AVenvIsSetUpOncePerNodeAndRecordedForEachAttempt) {
  const std::string venv = MakeVenv();
  WriteFile(PathOf("train.py"), absl::Substitute(R"(import os, sys, time
print("prefix", sys.prefix, flush=True)
if os.environ["TRAINYARD_ATTEMPT"] == "1":
    while not os.path.exists("$0"):
        time.sleep(0.01)
    sys.exit(9)
)",
                                                 PathOf("recorded")));
  const int64_t id = cluster_.Submit(cluster_.WriteJob(
      "venv", absl::StrCat("name: venv\nresources: {nodes: 2, slots_per_node: 2, device: cpu}\n",
                           "command: [python, ", PathOf("train.py"), "]\nenvironment:\n  venv: ",
                           venv, "\n  setup: [sh, -c, 'echo x >> ", PathOf("setups"), "']\n")));
  // Attempt 1 runs until its environment is recorded.
  EXPECT_TRUE(Eventually([&] { return cluster_.Job(id).environment().attempt() == 1; }));
  WriteFile(PathOf("recorded"), "");
  const v1::Job job = cluster_.WaitForEnd(id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(ReadFile(PathOf("setups")), "x\nx\n") << "once on each node, also after a restart";
  for (int rank = 0; rank < 4; ++rank) {
    const auto lines = cluster_.Logs(id, rank, 2);
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.back().text(), absl::StrCat("prefix ", venv));
  }
  EXPECT_EQ(job.environment().attempt(), 2);
  EXPECT_THAT(job.environment().interpreter(), HasSubstr(venv));
  EXPECT_THAT(job.environment().interpreter_version(), testing::StartsWith("3."));
  const CommandResult described = cluster_.Cli({"describe", absl::StrCat(id)});
  EXPECT_THAT(described.output, HasSubstr("Environment of attempt 2"));
  EXPECT_THAT(described.output, HasSubstr("attempt 1 runs with Python 3."));
}

TEST_F(EnvironmentsTest, AnEnvironmentThatNoNodeHasEndsTheJob) {
  const int64_t id = cluster_.Submit(cluster_.WriteJob(
      "none", absl::StrCat("name: none\nresources: {device: cpu}\ncommand: [python, x.py]\n",
                           "environment: {venv: ", PathOf("missing"), "}\n")));
  const v1::Job job = cluster_.WaitForEnd(id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_LE(job.attempts_size(), 2) << "one for each node";
  EXPECT_EQ(job.verdict().exit_code(), 127);
  const std::string why = cluster_.Cli({"why", absl::StrCat(id)}).output;
  EXPECT_THAT(why, HasSubstr(absl::StrCat("no virtual environment ", PathOf("missing"))));
  EXPECT_THAT(why, testing::ContainsRegex("on (node|worker)-?[01]"));
}

TEST_F(EnvironmentsTest, AnEnvironmentThatIsMissingOnOneNodeIsNamedWithTheNode) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root for a mount namespace";
  const std::string venv = MakeVenv();
  cluster_.KillWorker(1);
  cluster_.StartWorkerApart(1, {venv});
  const int64_t id = cluster_.Submit(cluster_.WriteJob(
      "half", absl::StrCat("name: half\nresources: {nodes: 2, slots_per_node: 2, device: cpu}\n",
                           "command: [python, -c, 'import time; time.sleep(1000)']\n",
                           "environment: {venv: ", venv, "}\n")));
  const v1::Job job = cluster_.WaitForEnd(id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED) << job.DebugString();
  EXPECT_EQ(job.verdict().exit_code(), 127);
  EXPECT_THAT(cluster_.Cli({"why", absl::StrCat(id)}).output,
              testing::AllOf(HasSubstr(absl::StrCat("no virtual environment ", venv)),
                             HasSubstr("node1"), testing::Not(HasSubstr("on node0"))));
  EXPECT_EQ(cluster_.RankPid(id, 1, 0), 0) << "the ranks of the other node end, too";
}

TEST_F(EnvironmentsTest, RunReturnsTheOutputAndTheExitCodeOfItsCommand) {
  CommandResult result = cluster_.Cli({"run", "--device", "cpu", "--set", "env.A=${RANK:-none}",
                                       "--", "sh", "-c", "echo a $A; echo b; exit 3"});
  EXPECT_EQ(result.exit_code, 3) << result.error;
  EXPECT_EQ(result.output, "a none\nb\n");
  result = cluster_.Cli({"run", "-N", "2", "-n", "2", "--device", "cpu", "--", "true"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  result = cluster_.Cli({"run", "--device", "cpu", "--set", "env.A=${NOT_SET}", "--", "true"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.error, HasSubstr("variable NOT_SET is not set"));
}

}  // namespace
}  // namespace trainyard::test
