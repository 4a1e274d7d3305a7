#include "controller/core/explain/run_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/explain/explain.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A trainyard-trainer job on one slot, with steps of one second.
class RunAdviceTest : public testing::Test {
 protected:
  RunAdviceTest() {
    cluster_.AddNode("a", 1);
    v1::JobSpec spec = AutoSpec("job", 1, 1);
    spec.clear_auto_layout();
    spec.mutable_layout()->set_micro_batch(8);
    spec.mutable_restart()->set_max_restarts(0);
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
  }

  void Step(int count, double input_wait) {
    for (int i = 0; i < count; ++i) cluster_.Step(job_, 0, ++step_, 1.0);
    AttemptObservation& attempt = cluster_.observations.attempts[{job_, 1}];
    attempt.ranks[0].newest.mutable_step_time()->set_input_wait(input_wait);
  }

  void RunOn(const std::string& model) {
    v1::Slot& slot = *cluster_.state.nodes.at("a").node.mutable_inventory()->mutable_slots(0);
    slot.set_kind(v1::DEVICE_KIND_GPU);
    slot.set_model(model);
  }

  void Fail(int exit_code, const std::string& output) {
    v1::RankExited exited;
    exited.set_exit_code(exit_code);
    exited.set_log_tail(output);
    cluster_.Exit(job_, exited);
    cluster_.Settle();
  }

  v1::WhyJobResponse Why() const {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job_));
  }

  TestCluster cluster_;
  int64_t job_ = 0;
  int64_t step_ = 0;
};

TEST_F(RunAdviceTest, ARunThatWaitsForDataIsToldSo) {
  Step(15, 0.4);
  EXPECT_THAT(Why().findings(), IsEmpty()) << "the first steps say nothing";
  Step(1, 0.4);
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_EQ(Why().findings(0).what(), "ranks wait for data");
  EXPECT_EQ(Why().findings(0).why(), "40 % of a step");
  EXPECT_THAT(Why().findings(0).change(), HasSubstr("disk"));
  Step(1, 0.01);
  EXPECT_THAT(Why().findings(), IsEmpty());
}

// Metrics of a replaced member may arrive before the first report of its replacement.
TEST_F(RunAdviceTest, WithoutAReportOfTheReportingRankNoWaitIsKnown) {
  Step(20, 0.4);
  cluster_.observations.attempts.at({job_, 1}).ranks.clear();
  EXPECT_THAT(Why().findings(), IsEmpty());
}

TEST_F(RunAdviceTest, AGpuThatIsFarSlowerThanPredictedIsToldSo) {
  Step(20, 0);
  EXPECT_THAT(Why().findings(), IsEmpty()) << "no speed is expected of a CPU";
  RunOn("NVIDIA H200");
  EXPECT_FALSE(Why().findings().empty()) << "a tiny model takes milliseconds";
}

TEST_F(RunAdviceTest, LackOfMemoryGetsAdviceOnMemory) {
  Fail(78, "The run needs more memory than there is: CUDA out of memory.");
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_EQ(Why().findings(0).what(), "out of memory");
  EXPECT_THAT(Why().findings(0).change(), HasSubstr("layout.micro_batch"));
}

TEST_F(RunAdviceTest, LackOfMemoryOnAGpuComparesThePredictionWithItsMemory) {
  Fail(78, "CUDA out of memory.");
  v1::JobSpec& spec = *cluster_.state.jobs.at(job_).job.mutable_spec();
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_EQ(Why().findings(0).why(), "the run needs more memory than its slots have");
  RunOn("NVIDIA H200");
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_THAT(Why().findings(0).why(), HasSubstr("of the GPU's"));
}

TEST_F(RunAdviceTest, LossesThatAreNotFiniteGetAdviceOnTheRate) {
  Fail(76, "");
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_EQ(Why().findings(0).what(), "losses are not finite");
}

TEST_F(RunAdviceTest, OtherFailuresGetNone) {
  Fail(66, "/data/train.bin: no such file");
  EXPECT_THAT(Why().findings(), IsEmpty());
}

// None of the run's settings is known to be slow, so the advice is about the speed itself.
TEST_F(RunAdviceTest, OnlyAPredictableLayoutIsComparedWithItsPrediction) {
  Step(20, 0);
  RunOn("NVIDIA H200");
  v1::JobSpec& spec = *cluster_.state.jobs.at(job_).job.mutable_spec();
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  spec.mutable_train()->set_precision(v1::PRECISION_BF16);
  spec.mutable_layout()->set_micro_batch(840);
  spec.mutable_layout()->set_zero(1);
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_EQ(Why().findings(0).what(), "no setting explains the speed");
  EXPECT_THAT(Why().findings(0).why(), HasSubstr("of the predicted speed"));
  spec.mutable_layout()->set_zero_size(1);
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_THAT(Why().findings(0).why(), HasSubstr("the MFU is"));
}

TEST_F(RunAdviceTest, ASlotThatTheNodeNoLongerHasIsNoGpu) {
  Step(20, 0);
  RunOn("NVIDIA H200");
  ASSERT_FALSE(Why().findings().empty());
  v1::Inventory none;
  cluster_.state.nodes.at("a").node.mutable_inventory()->Swap(&none);
  EXPECT_THAT(Why().findings(), IsEmpty());
}

TEST_F(RunAdviceTest, AJobThatSucceededGetsNoAdviceOnAFailure) {
  cluster_.ExitAll(job_, 0);
  cluster_.ClearAll(job_);
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_SUCCEEDED);
  v1::Attempt& attempt = *cluster_.state.jobs.at(job_).job.mutable_attempts(0);
  attempt.mutable_verdict()->set_log_tail("CUDA out of memory.");
  EXPECT_THAT(Why().findings(), IsEmpty());
}

TEST_F(RunAdviceTest, ARollbackGetsAdviceOnSpikes) {
  cluster_.state.jobs.at(job_).job.add_rollbacks();
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_EQ(Why().findings(0).what(), "the loss spikes");
}

TEST_F(RunAdviceTest, AnAttemptThatEndedWithASpikeGetsAdviceOnSpikes) {
  Fail(1, "");
  EXPECT_THAT(Why().findings(), IsEmpty());
  v1::Attempt& attempt = *cluster_.state.jobs.at(job_).job.mutable_attempts(0);
  attempt.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_LOSS_SPIKE);
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_EQ(Why().findings(0).what(), "the loss spikes");
}

// The memory use of other programs cannot be predicted, and their settings are unknown.
TEST(RunAdviceOfProgramsTest, LackOfMemoryGetsAdviceWithoutSettingsOfTrainyardTrainer) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec program = TestSpec("job", 1, 1);
  program.mutable_restart()->set_max_restarts(0);
  const int64_t job = cluster.Submit(program);
  cluster.RunJob(job);
  v1::RankExited exited;
  exited.set_exit_code(1);
  exited.set_log_tail("CUDA out of memory.");
  cluster.Exit(job, exited);
  cluster.Settle();
  JobEntry& entry = cluster.state.jobs.at(job);
  entry.job.mutable_spec()->mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  v1::Slot& slot = *cluster.state.nodes.at("a").node.mutable_inventory()->mutable_slots(0);
  slot.set_kind(v1::DEVICE_KIND_GPU);
  slot.set_model("NVIDIA H200");
  const std::vector<planner::Finding> findings =
      AdviceOn(cluster.state, cluster.observations, entry);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].why, "the program needs more memory than its slots have");
  EXPECT_THAT(findings[0].right,
              testing::AllOf(HasSubstr("micro-batch"), testing::Not(HasSubstr("layout."))));
}

TEST(RunAdviceOfProgramsTest, LackOfTheNodesMemoryIsToldApart) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::JobSpec program = TestSpec("job", 1, 1);
  program.mutable_restart()->set_max_restarts(0);
  const int64_t job = cluster.Submit(program);
  cluster.RunJob(job);
  v1::RankExited exited;
  exited.set_exit_code(1);
  exited.set_log_tail("Traceback (most recent call last):\nMemoryError\n");
  cluster.Exit(job, exited);
  cluster.Settle();
  const std::vector<planner::Finding> findings =
      AdviceOn(cluster.state, cluster.observations, cluster.state.jobs.at(job));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].right, HasSubstr("data loader workers"));
}

TEST(SpikeSettingsTest, TheGuardsPolicyIsTold) {
  v1::JobSpec spec = TestSpec("job", 1, 1);
  EXPECT_FALSE(SpikeSettingsOf(spec).skips_samples);
  EXPECT_FALSE(SpikeSettingsOf(spec).lowers_rate);
  spec.mutable_guard()->set_policy(v1::GUARD_POLICY_SKIP);
  EXPECT_TRUE(SpikeSettingsOf(spec).skips_samples);
  EXPECT_FALSE(SpikeSettingsOf(spec).lowers_rate);
  spec.mutable_guard()->set_policy(v1::GUARD_POLICY_LOWER_LR);
  EXPECT_FALSE(SpikeSettingsOf(spec).skips_samples);
  EXPECT_TRUE(SpikeSettingsOf(spec).lowers_rate);
}

TEST(SpikeSettingsTest, OptimizerSettingsAreThoseOfTrainyardTrainerOnly) {
  for (const bool is_trainer : {true, false}) {
    v1::JobSpec spec = is_trainer ? AutoSpec("job", 1, 1) : TestSpec("job", 1, 1);
    spec.mutable_optimizer()->set_clip_grad(0.5);
    spec.mutable_optimizer()->set_lr(0.25);
    const planner::SpikeSettings settings = SpikeSettingsOf(spec);
    EXPECT_EQ(settings.clip_grad, is_trainer ? std::optional(0.5) : std::nullopt);
    EXPECT_EQ(settings.lr, is_trainer ? std::optional(0.25) : std::nullopt);
  }
}

TEST_F(RunAdviceTest, ALayerThatHasCollapsedIsNamed) {
  Step(1, 0);
  v1::ExpertsRecord record;
  record.set_experts(8);
  record.set_topk(2);
  record.add_balance(3.5F);
  for (int i = 1; i <= kExpertRecordsInARow; ++i) {
    record.set_step(i);
    cluster_.observations.attempts[{job_, 1}].experts.Add(record);
  }
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_EQ(Why().findings(0).what(), "the experts of layer 0 have collapsed");
}

}  // namespace
}  // namespace trainyard::controller
