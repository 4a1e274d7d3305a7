// Tests `layout: auto` with real processes. The controller chooses the layout. When a node is lost
// and cannot be replaced, the job continues on fewer slots with a new layout but an unchanged batch
// size.
#include <signal.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using ::testing::HasSubstr;

constexpr int kStepsWithoutEnd = 1'000'000;
constexpr int kBatch = 8;

class AutomaticLayoutTest : public testing::Test {
 protected:
  AutomaticLayoutTest()
      : cluster_(/*nodes=*/2, /*slots_per_node=*/2), tokens_(cluster_.MakeTokens()) {}

  int64_t Submit(const std::string& name, int nodes, const std::vector<std::string>& settings) {
    std::vector<std::string> more = {"--set", "resources.slots_per_node=2"};
    for (const std::string& setting : settings) more.insert(more.end(), {"--set", setting});
    return cluster_.Submit(cluster_.WriteJob(name, TinyJob(name, tokens_, nodes, kStepsWithoutEnd)),
                           more);
  }

  // Simulates the loss of worker 1's machine: kills its daemon and all its ranks.
  void LoseNode(int64_t job_id) {
    const v1::Attempt attempt = *cluster_.Job(job_id).attempts().rbegin();
    cluster_.KillWorker(1);
    for (const int rank : {2, 3}) {
      const pid_t pid = cluster_.RankPid(job_id, attempt.number(), rank);
      ASSERT_GT(pid, 0);
      kill(pid, SIGKILL);
    }
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

// Returns the samples per step: data-parallel ranks * micro-batch size * micro-batches.
int64_t SamplesOfStep(const v1::GrantedLayout& granted) {
  return granted.layout().dp() * granted.layout().micro_batch() * granted.micro_batches();
}

TEST_F(AutomaticLayoutTest, AJobThatLosesANodeGoesOnWithANewLayoutAndTheSameBatch) {
  const std::string file = cluster_.WriteJob(
      "planned", TinyJob("planned", tokens_, 2, kStepsWithoutEnd) + "layout: auto\n");
  EXPECT_THAT(cluster_.Cli({"plan", file}).output, HasSubstr("predicted step time "));
  const int64_t job_id = Submit("disturbed", 2, {"layout=auto"});
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, 20)) << cluster_.DaemonLogs();
  const v1::GrantedLayout before = cluster_.Job(job_id).attempts(0).layout();
  EXPECT_EQ(before.nodes(), 2);
  EXPECT_EQ(SamplesOfStep(before), kBatch);

  LoseNode(job_id);
  ASSERT_TRUE(Eventually([&] {
    const v1::Job job = cluster_.Job(job_id);
    return job.attempts_size() == 2 && job.state() == v1::JOB_STATE_RUNNING;
  })) << cluster_.Job(job_id).DebugString();
  const v1::Attempt attempt = cluster_.Job(job_id).attempts(1);
  EXPECT_EQ(attempt.ranks_size(), 2);
  EXPECT_GE(attempt.resume_step(), 20);
  const v1::GrantedLayout& after = attempt.layout();
  EXPECT_EQ(after.asked_nodes(), 1);
  EXPECT_EQ(after.nodes(), 1);
  EXPECT_EQ(SamplesOfStep(after), kBatch);
  EXPECT_NE(after.layout().SerializeAsString(), before.layout().SerializeAsString());
  EXPECT_THAT(
      cluster_.Cli({"why", "disturbed"}).output,
      HasSubstr("because some of the requested 2 nodes were lost and could not be replaced"));
  EXPECT_THAT(cluster_.Cli({"describe", "disturbed"}).output, HasSubstr("on 1 node of 2 cpu"));
  cluster_.StopAfter(job_id, attempt.resume_step() + 20);

  const auto losses = cluster_.Series(job_id, "loss");
  const int64_t last = attempt.resume_step() + 20;
  const int64_t reference = Submit("reference", 1, {"layout.dp=2"});
  cluster_.StopAfter(reference, last);
  const auto expected = cluster_.Series(reference, "loss");
  for (int64_t step = 1; step <= last; ++step) {
    ASSERT_TRUE(losses.contains(step) && expected.contains(step)) << step;
    EXPECT_NEAR(losses.at(step), expected.at(step), 1e-5 * expected.at(step)) << "step " << step;
  }
}

TEST_F(AutomaticLayoutTest, AJobThatNoLayoutFitsSaysWhyAndHoldsUpNobody) {
  const int64_t stuck = Submit("stuck", 2,
                               {"layout=auto", "train.global_batch=1", "train.seq_length=63",
                                "model.num_layers=1", "resources.slots_per_node=1"});
  const int64_t later = Submit("later", 2, {"train.steps=20"});
  EXPECT_EQ(cluster_.WaitForEnd(later).state(), v1::JOB_STATE_SUCCEEDED);
  const v1::GetJobResponse described = cluster_.Described(stuck);
  EXPECT_EQ(described.pending().code(), v1::PENDING_CODE_LAYOUT);
  EXPECT_THAT(described.pending().message(), HasSubstr("satisfies the rules"));
  EXPECT_THAT(cluster_.Cli({"why", "stuck"}).output, HasSubstr("train.global_batch"));
}

}  // namespace
}  // namespace trainyard::test
