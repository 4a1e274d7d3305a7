#include "controller/core/verdict/loss_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/explain.h"
#include "controller/core/state/attempts/rollbacks.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kSamplesOfStep = 32;

class LossGuardTest : public testing::Test {
 protected:
  void Start(v1::GuardPolicy policy, int ranks = 1) {
    cluster_.AddNode("a", ranks);
    cluster_.AddNode("b", ranks);
    v1::JobSpec spec = TestSpec("job", 1, ranks);
    spec.mutable_guard()->set_policy(policy);
    spec.mutable_guard()->set_max_rollbacks(2);
    Change(*spec.mutable_guard());
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
  }

  virtual void Change(v1::GuardSpec&) {}

  // Returns a telemetry record of `step` with this loss and the step's number of samples.
  ReceiveTelemetry Loss(int64_t step, double loss, const std::string& node = "a") const {
    ReceiveTelemetry request{job_, cluster_.Attempt(job_).number(), 0, {}, node};
    v1::MetricsRecord& metrics = *request.record.mutable_metrics();
    metrics.set_step(step);
    (*metrics.mutable_values())["loss"] = loss;
    metrics.mutable_samples()->set_begin((step - 1) * kSamplesOfStep);
    metrics.mutable_samples()->set_end(step * kSamplesOfStep);
    request.loss = LossFinding{std::isfinite(loss) ? LossProblem::kSpike : LossProblem::kNotFinite,
                               loss, "it is high"};
    return request;
  }

  ReceiveTelemetry NanAlert(int64_t step) const {
    ReceiveTelemetry request{job_, cluster_.Attempt(job_).number(), 0, {}, "a"};
    v1::AlertRecord& alert = *request.record.mutable_alert();
    alert.set_step(step);
    alert.set_code("nan_loss");
    alert.set_message("loss is NaN");
    alert.mutable_samples()->set_begin(700);
    alert.mutable_samples()->set_end(732);
    return request;
  }

  // Lets the ranks exit as requested and starts the next attempt.
  void Restart() {
    cluster_.ExitAll(job_, 143);
    cluster_.ClearAll(job_);
    cluster_.RunJob(job_);
  }

  const v1::Attempt& Attempt() const { return cluster_.Attempt(job_); }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(LossGuardTest, AlertLeavesTheAttemptAlone) {
  Start(v1::GUARD_POLICY_ALERT);
  const auto events = cluster_.Do(Loss(15, 9));
  ASSERT_THAT(Kinds(events), ElementsAre("AlertRaised"));
  EXPECT_EQ(events[0].alert_raised().code(), "loss_spike");
  EXPECT_EQ(events[0].alert_raised().message(), "it is high; samples of this step: 448:480");
  EXPECT_EQ(Attempt().state(), v1::ATTEMPT_STATE_RUNNING);
  EXPECT_THAT(cluster_.Do(Loss(15, 9)), IsEmpty()) << "received again";
  EXPECT_THAT(cluster_.Do(Loss(14, 9)), IsEmpty());
}

TEST_F(LossGuardTest, SkipGoesBackToTheNewestCheckpointBeforeTheSpike) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Publish(job_, 10);
  cluster_.Publish(job_, 20);
  const auto events = cluster_.Do(Loss(15, 9));
  ASSERT_THAT(Kinds(events), ElementsAre("AlertRaised", "AttemptRolledBack"));
  const v1::Rollback& rollback = events[1].attempt_rolled_back().rollback();
  EXPECT_EQ(rollback.to_step(), 10);
  EXPECT_EQ(rollback.first_bad_step(), 15);
  EXPECT_EQ(rollback.skip_samples(), "448:480");
  EXPECT_EQ(Attempt().stop_reason(), v1::STOP_REASON_ROLLED_BACK);
  EXPECT_EQ(Attempt().verdict().cause(), v1::VERDICT_CAUSE_LOSS_SPIKE);
  EXPECT_EQ(Attempt().verdict().rank(), -1) << "a loss blames no rank";
  EXPECT_EQ(Attempt().verdict().summary(),
            "step 15: it is high; rolled back to step 10, and samples 448:480 are skipped");
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
  EXPECT_THAT(cluster_.Commands(), ElementsAre("stop a 1/1 3000"));
  Restart();
  EXPECT_EQ(Attempt().number(), 2);
  EXPECT_EQ(Attempt().resume_from(), "/c/step_10");
  EXPECT_EQ(Attempt().resume_attempt(), 1);
  EXPECT_EQ(Attempt().skip_samples(), "448:480");
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0) << "a rollback uses no restart budget";
}

TEST_F(LossGuardTest, NoLaterAttemptStartsFromWhatTheSpikeReached) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Publish(job_, 10);
  cluster_.Publish(job_, 20);
  cluster_.Do(Loss(15, 9));
  // The gang saved this checkpoint while it was being stopped, and its report arrives late.
  cluster_.Publish(job_, 22);
  Restart();
  cluster_.ExitRank(job_, 0, 1);
  cluster_.Settle();
  cluster_.ClearAll(job_);
  cluster_.Pass(5000);
  EXPECT_EQ(Attempt().number(), 3);
  EXPECT_EQ(Attempt().resume_step(), 10) << "after a crash, too";
  const ClusterState restarted = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(Bytes(restarted), Bytes(cluster_.state));
  // Attempt 3 reaches step 20 on the good branch.
  cluster_.RunJob(job_);
  cluster_.Publish(job_, 20);
  cluster_.ExitRank(job_, 0, 1);
  cluster_.Settle();
  cluster_.ClearAll(job_);
  cluster_.Pass(5000);
  EXPECT_EQ(Attempt().resume_step(), 20);
  EXPECT_EQ(Attempt().resume_attempt(), 3);
  EXPECT_EQ(Attempt().skip_samples(), "448:480") << "in every later attempt";
}

TEST_F(LossGuardTest, WithoutACheckpointItBeginsAnew) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Do(Loss(3, std::nan("")));
  EXPECT_EQ(Attempt().verdict().cause(), v1::VERDICT_CAUSE_LOSS_NOT_FINITE);
  Restart();
  EXPECT_EQ(Attempt().resume_from(), "");
  EXPECT_EQ(Attempt().skip_samples(), "64:96");
}

TEST_F(LossGuardTest, LowerLrMultipliesAtEachRollback) {
  Start(v1::GUARD_POLICY_LOWER_LR);
  cluster_.Publish(job_, 10);
  cluster_.Do(Loss(15, 9));
  Restart();
  EXPECT_EQ(Attempt().lr_factor(), 0.5);
  EXPECT_EQ(Attempt().skip_samples(), "");
  cluster_.Do(Loss(18, 9));
  Restart();
  EXPECT_EQ(Attempt().lr_factor(), 0.25);
}

TEST_F(LossGuardTest, StopEndsTheJob) {
  Start(v1::GUARD_POLICY_STOP);
  EXPECT_THAT(Kinds(cluster_.Do(Loss(15, 9))), ElementsAre("AlertRaised", "AttemptFailed"));
  cluster_.ExitAll(job_, 143);
  cluster_.ClearAll(job_);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.Job(job_).verdict().summary(), "step 15: it is high; guard.policy is stop");
}

TEST_F(LossGuardTest, BudgetOfRollbacksEndsTheJob) {
  Start(v1::GUARD_POLICY_SKIP);
  for (const int64_t step : {15, 16}) {
    cluster_.Do(Loss(step, 9));
    Restart();
  }
  EXPECT_EQ(Attempt().skip_samples(), "448:512");
  EXPECT_THAT(Kinds(cluster_.Do(Loss(17, 9))), ElementsAre("AlertRaised", "AttemptFailed"));
  EXPECT_THAT(Attempt().verdict().summary(), HasSubstr("guard.max_rollbacks (2)"));
  EXPECT_FALSE(Attempt().verdict().restartable());
}

TEST_F(LossGuardTest, RecordsOfOtherNodesAndAttemptsAreIgnored) {
  Start(v1::GUARD_POLICY_SKIP);
  EXPECT_THAT(cluster_.Do(Loss(15, 9, "b")), IsEmpty()) << "rank 0 was placed on node a";
  ReceiveTelemetry unplaced = Loss(15, 9);
  for (const int rank : {-1, 1, 7}) {
    unplaced.rank = rank;
    EXPECT_THAT(cluster_.Do(unplaced), IsEmpty()) << rank;
  }
  ReceiveTelemetry older = Loss(15, 9);
  cluster_.Do(Loss(15, 9));
  Restart();
  EXPECT_THAT(cluster_.Do(older), IsEmpty());
  EXPECT_EQ(cluster_.Job(job_).rollbacks_size(), 1);
}

TEST_F(LossGuardTest, AStopByAUserIsNotTakenBack) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Stop(job_);
  EXPECT_EQ(Attempt().stop_reason(), v1::STOP_REASON_USER);
  EXPECT_THAT(Kinds(cluster_.Do(Loss(15, 9))), ElementsAre("AlertRaised"));
  cluster_.ExitAll(job_, 143);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STOPPED);
}

TEST_F(LossGuardTest, AUserStopsAJobThatGoesBack) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Do(Loss(15, 9));
  cluster_.Stop(job_);
  cluster_.ExitAll(job_, 143);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STOPPED);
}

TEST_F(LossGuardTest, ExitOverANanWaitsForTheAlert) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.ExitRank(job_, 0, 76);
  EXPECT_THAT(cluster_.Pass(1500), IsEmpty());
  EXPECT_THAT(Kinds(cluster_.Do(NanAlert(23))), ElementsAre("AlertRaised", "AttemptRolledBack"));
  cluster_.ClearAll(job_);
  cluster_.RunJob(job_);
  EXPECT_EQ(Attempt().skip_samples(), "700:732");
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0);
}

TEST_F(LossGuardTest, AlertMayComeAfterTheVerdict) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.ExitRank(job_, 0, 76);
  cluster_.Pass(2500);
  ASSERT_EQ(Attempt().stop_reason(), v1::STOP_REASON_FAILED);
  cluster_.Do(NanAlert(23));
  EXPECT_EQ(Attempt().stop_reason(), v1::STOP_REASON_ROLLED_BACK);
  cluster_.ClearAll(job_);
  cluster_.RunJob(job_);
  EXPECT_EQ(Attempt().skip_samples(), "700:732");
}

TEST_F(LossGuardTest, AlertMayComeAfterTheEndOfTheAttempt) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.ExitRank(job_, 0, 70);
  cluster_.Settle();
  cluster_.ClearAll(job_);
  ASSERT_EQ(Attempt().state(), v1::ATTEMPT_STATE_ENDED);
  cluster_.Do(NanAlert(23));
  cluster_.Pass(2000);
  EXPECT_EQ(Attempt().number(), 2);
  EXPECT_EQ(Attempt().skip_samples(), "700:732");
}

TEST_F(LossGuardTest, WithoutAPolicyTheSameNanIsNotTriedForEver) {
  Start(v1::GUARD_POLICY_ALERT);
  for (int i = 0; i < 2; ++i) {
    cluster_.ExitRank(job_, 0, 76);
    cluster_.Settle();
    cluster_.ClearAll(job_);
    cluster_.Pass(3000);
    if (i == 0) cluster_.RunJob(job_);
  }
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_THAT(cluster_.Job(job_).verdict().summary(), HasSubstr("not finite twice in a row"));
}

TEST_F(LossGuardTest, WithoutSamplesNothingIsSkipped) {
  Start(v1::GUARD_POLICY_SKIP);
  ReceiveTelemetry loss = Loss(15, 9);
  loss.record.mutable_metrics()->clear_samples();
  cluster_.Do(loss);
  EXPECT_THAT(Attempt().verdict().summary(), HasSubstr("does not report the samples"));
  EXPECT_EQ(cluster_.Job(job_).rollbacks(0).skip_samples(), "");
}

TEST_F(LossGuardTest, WhyTellsOfTheNewestRollback) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Publish(job_, 10);
  cluster_.Do(Loss(15, 9));
  const auto why = [&] {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job_)).answer();
  };
  EXPECT_THAT(why(), HasSubstr("attempt 1 was stopped by the loss guard: step 15: it is high"));
  Restart();
  EXPECT_THAT(
      why(), HasSubstr("the loss guard rolled back 1 time (limit 2), most recently from step 15 to "
                       "10 because it is high"));
}

class CautiousGuardTest : public LossGuardTest {
  void Change(v1::GuardSpec& guard) override {
    guard.set_rewind_steps(6);
    guard.set_skip_batches(4);
  }
};

TEST_F(CautiousGuardTest, DistrustsStepsBeforeAndSkipsBatchesAfter) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Publish(job_, 5);
  cluster_.Publish(job_, 10);
  cluster_.Do(Loss(15, 9));
  EXPECT_EQ(cluster_.Job(job_).rollbacks(0).first_bad_step(), 9);
  EXPECT_EQ(cluster_.Job(job_).rollbacks(0).to_step(), 5);
  EXPECT_EQ(cluster_.Job(job_).rollbacks(0).skip_samples(), "448:576");
}

TEST_F(CautiousGuardTest, NoStepBeforeTheFirstOneIsBad) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Do(Loss(3, 9));
  EXPECT_EQ(cluster_.Job(job_).rollbacks(0).first_bad_step(), 1);
}

TEST_F(LossGuardTest, LossesAreWatchedInRecordsThatHaveOne) {
  Start(v1::GUARD_POLICY_SKIP);
  v1::TelemetryBatch batch;
  batch.mutable_stream()->set_job_id(job_);
  batch.mutable_stream()->set_attempt(1);
  batch.add_records()->mutable_metrics()->set_step(4);
  *batch.add_records() = Loss(5, std::nan("")).record;
  const std::vector<ReceiveTelemetry> found =
      WatchLosses(cluster_.state, "a", batch, cluster_.observations);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].record.metrics().step(), 5);
  EXPECT_EQ(found[0].node_id, "a");
  EXPECT_EQ(found[0].loss->trouble, LossProblem::kNotFinite);
}

TEST(FindingOfTest, OnlyAlertsAboutLossesAndGradientsAreFindings) {
  v1::AlertRecord alert;
  alert.set_code("nan_loss");
  EXPECT_EQ(FindingOf(alert)->evidence, "the loss is not finite");
  alert.set_code("nan_gradient");
  ASSERT_TRUE(FindingOf(alert).has_value());
  EXPECT_EQ(FindingOf(alert)->evidence, "the gradient norm is not finite");
  alert.set_code("checkpoint_failed");
  EXPECT_FALSE(FindingOf(alert).has_value());
}

TEST(RollbacksTest, RangesThatNobodyCanSkipAreEmpty) {
  const auto range = [](int64_t begin, int64_t end) {
    v1::SampleRange samples;
    samples.set_begin(begin);
    samples.set_end(end);
    return RangeToSkip(samples, 100000);
  };
  EXPECT_EQ(range(0, 2), "0:200000");
  EXPECT_EQ(range(5, 5), "");
  EXPECT_EQ(range(-1, 5), "");
  EXPECT_EQ(range(0, int64_t{1} << 53), "") << "more than a step has";
  EXPECT_EQ(range((int64_t{1} << 53) - 1, int64_t{1} << 53), "9007199254740991:9007199254740992");
}

TEST_F(LossGuardTest, ARollbackRecordsTheSpikeAndItsTime) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Publish(job_, 10);
  cluster_.now += 700;
  const auto events = cluster_.Do(Loss(15, 9));
  ASSERT_THAT(Kinds(events), ElementsAre("AlertRaised", "AttemptRolledBack"));
  const v1::AttemptRolledBack& back = events[1].attempt_rolled_back();
  EXPECT_EQ(back.job_id(), job_);
  EXPECT_EQ(back.attempt(), 1);
  EXPECT_EQ(back.rollback().attempt(), 1);
  EXPECT_EQ(back.rollback().step(), 15);
  EXPECT_EQ(back.rollback().loss(), 9);
  EXPECT_EQ(back.rollback().time_ms(), cluster_.now);
  EXPECT_EQ(back.rollback().reason(), "it is high");
  EXPECT_EQ(back.verdict().time_ms(), cluster_.now);
  EXPECT_TRUE(back.verdict().restartable());
}

TEST_F(LossGuardTest, ARollbackRecordsNoLossThatIsNotFinite) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Do(Loss(3, std::nan("")));
  ASSERT_EQ(cluster_.Job(job_).rollbacks_size(), 1);
  EXPECT_EQ(cluster_.Job(job_).rollbacks(0).loss(), 0);
}

TEST_F(LossGuardTest, AnAlertOfTheProgramKeepsItsTextAndBlamesItsOwnStep) {
  Start(v1::GUARD_POLICY_SKIP);
  const auto events = cluster_.Do(NanAlert(23));
  ASSERT_THAT(Kinds(events), ElementsAre("AlertRaised", "AttemptRolledBack"));
  const v1::AlertRaised& alert = events[0].alert_raised();
  EXPECT_EQ(alert.job_id(), job_);
  EXPECT_EQ(alert.attempt(), 1);
  EXPECT_EQ(alert.step(), 23);
  EXPECT_EQ(alert.code(), "nan_loss");
  EXPECT_EQ(alert.message(), "loss is NaN");
  EXPECT_TRUE(alert.by_guard());
  EXPECT_EQ(events[1].attempt_rolled_back().rollback().first_bad_step(), 23);
}

TEST_F(LossGuardTest, ALossCoversTheStepsSinceTheRecordBefore) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.state.jobs.at(job_).job.mutable_spec()->mutable_train()->set_log_every_steps(5);
  cluster_.Do(Loss(15, 9));
  ASSERT_EQ(cluster_.Job(job_).rollbacks_size(), 1);
  EXPECT_EQ(cluster_.Job(job_).rollbacks(0).first_bad_step(), 11);
}

TEST_F(LossGuardTest, AnAttemptIsRolledBackOnce) {
  Start(v1::GUARD_POLICY_SKIP);
  cluster_.Do(Loss(15, 9));
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
  EXPECT_THAT(Kinds(cluster_.Do(Loss(16, 9))), ElementsAre("AlertRaised"));
  EXPECT_EQ(cluster_.Job(job_).rollbacks_size(), 1);
}

TEST_F(LossGuardTest, OnlyLossesOfTheNewestAttemptAreWatched) {
  Start(v1::GUARD_POLICY_SKIP);
  v1::TelemetryBatch batch;
  *batch.add_records() = Loss(5, std::nan("")).record;
  const auto found_in = [&](int64_t job, int64_t attempt_number) {
    batch.mutable_stream()->set_job_id(job);
    batch.mutable_stream()->set_attempt(attempt_number);
    return WatchLosses(cluster_.state, "a", batch, cluster_.observations).size();
  };
  EXPECT_EQ(found_in(job_, 7), 0u);
  EXPECT_EQ(found_in(99, 1), 0u) << "of an unknown job";
  EXPECT_EQ(found_in(job_, 1), 1u);
}

TEST_F(LossGuardTest, AnExitOverANanWaitsTwoSecondsUnlessTheAlertHasCome) {
  Start(v1::GUARD_POLICY_SKIP);
  JobEntry entry = cluster_.state.jobs.at(job_);
  entry.first_failure_ms = 1000;
  v1::RankExited exited;
  exited.set_exit_code(76);
  EXPECT_TRUE(AwaitsLossAlert(entry, exited, 2999));
  EXPECT_FALSE(AwaitsLossAlert(entry, exited, 3000));
  entry.guarded = {1, 5};
  EXPECT_FALSE(AwaitsLossAlert(entry, exited, 2999));
}

}  // namespace
}  // namespace trainyard::controller
