// Tests jobs that start one launcher per node, with the real programs and the launcher of
// tests/programs.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class LaunchTest : public testing::Test {
 protected:
  // Returns a job with one launcher on each node. `arguments` are those of small_rank.py.
  std::string WriteJob(int nodes, const std::string& launcher_options, const std::string& arguments,
                       const std::string& settings = "") {
    const std::string programs = absl::StrCat(SOURCE_ROOT, "/tests/programs/");
    return cluster_.WriteJob(
        "launched", absl::StrCat("name: launched\nresources: {nodes: ", nodes,
                                 ", slots_per_node: 2, device: cpu}\nlaunch: {processes_per_node: "
                                 "1}\nrestart: {backoff: 100ms}\ncommand: [/usr/bin/python3, ",
                                 programs, "small_launcher.py, ", launcher_options, programs,
                                 "small_rank.py, ", arguments, "]\n", settings));
  }

  std::vector<std::string> TextsOf(int64_t job_id, int rank) {
    std::vector<std::string> texts;
    for (const v1::LogLine& line : cluster_.Logs(job_id, rank, 1)) texts.push_back(line.text());
    return texts;
  }

  MiniCluster cluster_{2, 2};
};

TEST_F(LaunchTest, OneLauncherPerNodeRunsAllRanksOfTheJob) {
  const int64_t job_id =
      cluster_.Submit(WriteJob(2, "", "'20'", "log_parser: {kind: nanogpt, rank: 3}\n"));
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.verdict().summary(), "all 4 ranks exited with 0");
  EXPECT_THAT(TextsOf(job_id, 2),
              AllOf(Contains(HasSubstr("[default0]:started RANK=2 LOCAL_RANK=0 WORLD_SIZE=4 "
                                       "LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1")),
                    Contains(HasSubstr("[default1]:started RANK=3 LOCAL_RANK=1"))));
  EXPECT_THAT(TextsOf(job_id, 0), Contains(HasSubstr("[default1]:started RANK=1 LOCAL_RANK=1")));
  EXPECT_EQ(TextsOf(job_id, 3), TextsOf(job_id, 2)) << "one launcher prints the output of both";
  const auto loss = cluster_.Series(job_id, "loss");
  ASSERT_EQ(loss.size(), 20u);
  EXPECT_EQ(loss.at(20), 320) << "the lines of rank 3, not of rank 2";
  std::vector<std::string> places;
  for (const v1::RankPlacement& rank : job.attempts(0).ranks()) {
    places.push_back(absl::StrCat(rank.rank(), ":", rank.local_rank(), ":", rank.slot()));
  }
  EXPECT_THAT(places, ElementsAre("0:0:0", "1:1:1", "2:0:0", "3:1:1"));
}

TEST_F(LaunchTest, TheVerdictNamesTheRankBelowTheLauncher) {
  const int64_t job_id =
      cluster_.Submit(WriteJob(2, "", "'20', --fail-at, '5', --fail-rank, '3', --starts, '1'"));
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  ASSERT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(job.attempts(0).verdict().rank(), 3);
  EXPECT_THAT(job.attempts(0).verdict().summary(),
              AllOf(HasSubstr("rank 3 on"), HasSubstr("exited with code 1: "),
                    HasSubstr("ValueError: no shard 5")));
}

TEST_F(LaunchTest, TheErrorFileExplainsAFailureWithoutOutput) {
  const int64_t job_id = cluster_.Submit(
      WriteJob(1, "", "'20', --fail-at, '5', --fail-rank, '1', --starts, '9', --error-file"));
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED) << job.DebugString();
  EXPECT_EQ(job.attempts(0).verdict().rank(), 1) << "torchrun's table names it";
  EXPECT_EQ(job.attempts(0).verdict().error_line(), "ValueError: no shard 5");
}

TEST_F(LaunchTest, ARestartByTheLauncherIsReported) {
  const int64_t job_id = cluster_.Submit(
      WriteJob(1, "--max-restarts, '2', ",
               "'100', --pause, '0.1', --fail-at, '5', --fail-rank, '1', --starts, '1'"));
  std::string why;
  const bool is_reported = Eventually(
      [&] {
        why = cluster_.Cli({"why", absl::StrCat(job_id)}).output;
        return absl::StrContains(why, "launchers have restarted ranks 1 time in this attempt");
      },
      Seconds(30));
  EXPECT_TRUE(is_reported) << why;
  EXPECT_THAT(why, HasSubstr("torchrun --max-restarts 0"));
  std::vector<std::string> alerts;
  const v1::ListEventsResponse events = cluster_.Events(50);
  for (const v1::EventEntry& entry : events.events()) {
    if (entry.event().has_alert_raised()) alerts.push_back(entry.event().alert_raised().message());
  }
  EXPECT_THAT(alerts,
              Contains("the launcher of rank 0 starts its ranks again after a failure, 2 of "
                       "2 restarts left"));
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
}

// A worker that restarts finds the launcher by its first rank.
TEST_F(LaunchTest, ALauncherSurvivesItsWorker) {
  const int64_t job_id =
      cluster_.Submit(WriteJob(1, "", "'60', --pause, '0.1'", "log_parser: {kind: nanogpt}\n"));
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 5));
  for (const int node : {0, 1}) cluster_.KillWorker(node);
  for (const int node : {0, 1}) cluster_.StartWorker(node);
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_EQ(cluster_.Series(job_id, "loss").size(), 60u);
}

TEST_F(LaunchTest, ALauncherThatIsMissingOnOneNodeIsNamedWithTheNode) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root for a mount namespace";
  const std::string bin = cluster_.directory() + "/bin";
  std::filesystem::create_directory(bin);
  std::filesystem::copy_file("/bin/true", bin + "/launcher");
  cluster_.KillWorker(1);
  cluster_.StartWorkerApart(1, {bin});
  const int64_t job_id = cluster_.Submit(cluster_.WriteJob(
      "missing", absl::StrCat("name: missing\nresources: {nodes: 2, slots_per_node: 2, device: "
                              "cpu}\nlaunch: {processes_per_node: 1}\ncommand: [",
                              bin, "/launcher]\n")));
  const v1::Job job = cluster_.WaitForEnd(job_id, Seconds(60));
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED) << job.DebugString();
  EXPECT_THAT(job.verdict().summary(), AllOf(HasSubstr("could not be started"),
                                             HasSubstr(bin + "/launcher"), HasSubstr("node1")));
}

TEST_F(LaunchTest, LaunchersThatDoNotFitAreRefused) {
  const auto refused =
      cluster_.Cli({"submit", WriteJob(1, "", "'20'"), "--set", "resources.slots_per_node=3",
                    "--set", "launch.processes_per_node=2"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error,
              HasSubstr("must divide `resources.slots_per_node` (3); use one of 1, 3"));
}

// PyTorch's own launcher, without options: it reads them from variables of the worker.
class TorchrunTest : public LaunchTest {
 protected:
  void SetUp() override {
    const CommandResult probe = RunCommand(
        {"/usr/bin/python3", "-c", "import torch.distributed.run"}, /*deadline=*/Seconds(60));
    if (probe.exit_code != 0) GTEST_SKIP() << "python3-torch is not installed: " << probe.error;
  }

  int64_t SubmitTorchrun(int nodes, const std::string& options, const std::string& arguments) {
    // PyTorch 1.13 fails with Python 3.11 unless output is redirected.
    std::string environment;
    for (const char* name : {"PYTHONPATH", "LD_LIBRARY_PATH"}) {
      if (const char* value = std::getenv(name)) {
        absl::StrAppend(&environment, "  ", name, ": ", value, "\n");
      }
    }
    return cluster_.Submit(cluster_.WriteJob(
        "torchrun",
        absl::StrCat("name: torchrun\nresources: {nodes: ", nodes,
                     ", slots_per_node: 2, device: cpu}\nlaunch: {processes_per_node: 1}\n"
                     "command: [/usr/bin/python3, -m, torch.distributed.run, -r, '1', -t, '1', ",
                     options, SOURCE_ROOT, "/tests/programs/all_reduce.py, ", arguments,
                     "]\nlog_parser: {kind: nanogpt}\nrestart: {backoff: 100ms}\n",
                     environment.empty() ? "" : "env:\n", environment)));
  }
};

TEST_F(TorchrunTest, ThePeerOfAnotherLauncherIsBlamed) {
  const v1::Job job = cluster_.WaitForEnd(SubmitTorchrun(2, "", "'10', '3'"), Seconds(200));
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  ASSERT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(job.attempts(0).verdict().rank(), 3) << job.attempts(0).verdict().summary();
  EXPECT_THAT(job.attempts(0).verdict().error_line(), HasSubstr("ValueError: shard 5 is damaged"));
  EXPECT_EQ(cluster_.Series(job.id(), "loss").size(), 10u);
  const auto texts = [&] {
    std::vector<std::string> lines;
    for (const v1::LogLine& line : cluster_.Logs(job.id(), 2, 2)) lines.push_back(line.text());
    return lines;
  };
  EXPECT_THAT(texts(), AllOf(Contains("[default0]:done 2 lo"), Contains("[default1]:done 3 lo")));
}

TEST_F(TorchrunTest, ARestartByTorchrunIsReported) {
  const int64_t job_id = SubmitTorchrun(1, "--max_restarts, '1', ", "'200', '1'");
  const bool is_reported = Eventually(
      [&] {
        return absl::StrContains(cluster_.Cli({"why", absl::StrCat(job_id)}).output,
                                 "launchers have restarted ranks 1 time in this attempt");
      },
      Seconds(100));
  EXPECT_TRUE(is_reported) << cluster_.Cli({"why", absl::StrCat(job_id)}).output;
  EXPECT_EQ(cluster_.Cli({"kill", "-y", absl::StrCat(job_id)}).exit_code, 0);
}

}  // namespace
}  // namespace trainyard::test
