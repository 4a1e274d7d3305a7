// Tests two machines that have the same paths but no shared file system. The second worker runs in
// a separate mount namespace.
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class UnsharedRootTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string> probe = {
        "/usr/bin/unshare", "--mount", "/bin/mount", "-t", "tmpfs", "none", "/mnt"};
    if (geteuid() != 0 || RunCommand(probe).exit_code != 0) {
      GTEST_SKIP() << "needs root, to mount a directory that one worker alone sees";
    }
  }

  std::string Root() const { return cluster_.directory() + "/controller/checkpoints"; }
  // Returns a checkpoint directory to set in a job file.
  std::string Own() const { return cluster_.directory() + "/own"; }
  // Starts node1 with separate directories of its own at the paths in `hidden`.
  void StartApart(const std::vector<std::string>& hidden) { cluster_.StartWorkerApart(1, hidden); }
  // Returns the result of the node's check of the checkpoint root: "", "ok", or the problem.
  std::string RootCheckOf(const std::string& node) {
    const CommandResult doctor = cluster_.Cli({"doctor", "-o", "json"});
    const nlohmann::json checks = nlohmann::json::parse(doctor.output, nullptr, false);
    if (!checks.is_array()) return "";
    for (const nlohmann::json& check : checks) {
      if (check["node"] != node || check["name"] != "shared checkpoints") continue;
      return check.value("ok", false) ? "ok" : check["found"].get<std::string>();
    }
    return "";
  }
  std::string JobOf(const std::string& name, int nodes) {
    return cluster_.WriteJob(name, TinyJob(name, tokens_, nodes, 40));
  }

  MiniCluster cluster_{1};
  const std::string tokens_ = cluster_.MakeTokens();
};

TEST_F(UnsharedRootTest, NoGangIsPlacedOnNodesThatDoNotShareTheRoot) {
  ASSERT_TRUE(Eventually([&] { return RootCheckOf("node0") == "ok"; })) << cluster_.DaemonLogs();
  StartApart({Root()});
  // The directory that the controller's own machine sees is the reference for all nodes.
  ASSERT_TRUE(Eventually([&] {
    const std::string found = RootCheckOf("node1");
    return RootCheckOf("node0") == "ok" && !found.empty() && found != "ok";
  })) << cluster_.Cli({"doctor"}).output;
  EXPECT_THAT(RootCheckOf("node1"), AllOf(HasSubstr("not the directory that the other nodes see"),
                                          HasSubstr("node0"), HasSubstr("node1")));
  const CommandResult doctor = cluster_.Cli({"doctor"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_THAT(doctor.output, HasSubstr("FAILED"));

  const std::string gang = JobOf("gang", 2);
  EXPECT_THAT(cluster_.Cli({"plan", gang}).output, Not(HasSubstr("starts immediately")));
  const int64_t job = cluster_.Submit(gang);
  const std::string why = cluster_.Cli({"why", std::to_string(job)}).output;
  EXPECT_THAT(why, AllOf(HasSubstr("on nodes that all see the same checkpoint root"),
                         HasSubstr("sees another directory"), HasSubstr("node1"),
                         HasSubstr("mount the same storage")));
  EXPECT_EQ(cluster_.Job(job).state(), v1::JOB_STATE_QUEUED);

  // Restarts the worker so that both nodes see one common directory. The job must start
  // automatically.
  cluster_.KillWorker(1);
  cluster_.StartWorker(1);
  EXPECT_EQ(cluster_.WaitForEnd(job).state(), v1::JOB_STATE_SUCCEEDED) << cluster_.DaemonLogs();
  EXPECT_EQ(RootCheckOf("node1"), "ok");
}

TEST_F(UnsharedRootTest, AJobOfOneNodeRuns) {
  StartApart({Root()});
  const int64_t job = cluster_.Submit(JobOf("alone", 1));
  EXPECT_EQ(cluster_.WaitForEnd(job).state(), v1::JOB_STATE_SUCCEEDED) << cluster_.DaemonLogs();
}

// A restarted controller does not know which directories the nodes see. Until it knows, it must not
// place a gang.
TEST_F(UnsharedRootTest, ARestartOfTheControllerChangesNothing) {
  StartApart({Root()});
  const int64_t job = cluster_.Submit(JobOf("gang", 2));
  cluster_.KillController();
  cluster_.StartController();
  ASSERT_TRUE(Eventually([&] {
    return !RootCheckOf("node0").empty() && !RootCheckOf("node1").empty();
  })) << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Job(job).state(), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.Job(job).attempts_size(), 0);
}

// If a job sets its directory, the controller does not check it. Instead, the job's ranks compare
// what they see in the directory.
TEST_F(UnsharedRootTest, RanksRefuseADirectoryOfTheirOwnThatTheyDoNotShare) {
  StartApart({Own()});
  const std::string yaml =
      absl::StrReplaceAll(TinyJob("own", tokens_, 2, 40),
                          {{"checkpoint: {", absl::StrCat("checkpoint: {dir: ", Own(), "/run, ")}});
  const v1::Job job = cluster_.WaitForEnd(cluster_.Submit(cluster_.WriteJob("own", yaml)));
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts_size(), 1) << "another attempt would fail the same way";
  EXPECT_EQ(job.verdict().exit_code(), 78) << job.DebugString();
  EXPECT_THAT(job.verdict().log_tail(), HasSubstr("not on storage that all ranks share"))
      << job.DebugString();
}

}  // namespace
}  // namespace trainyard::test
