#include "controller/core/explain/job_health.h"

#include <limits>
#include <string>
#include <vector>

#include "controller/core/explain/explain.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/observations/observe_telemetry.h"
#include "controller/core/observations/time_use.h"
#include "controller/core/verdict/loss_guard.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JobHealthTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b"}) cluster_.AddNode(id, 2);
    job_ = cluster_.Submit(TestSpec("job", 2, 2));
    cluster_.RunJob(job_);
  }

  // The gang trains for `seconds` seconds, with one step and one metrics record a second.
  void Train(int seconds, double loss = 2.5, double tokens_per_second = 6000) {
    for (int i = 0; i < seconds; ++i) {
      ++step_;
      for (const char* id : {"a", "b"}) {
        Report(id);
      }
      Record(loss, tokens_per_second);
      cluster_.Pass(1000);
    }
  }

  // The node's worker reports the newest step of its ranks.
  void Report(const std::string& id) {
    v1::AttemptReport& report = cluster_.Report(id, job_);
    report.clear_ranks();
    for (const v1::RankPlacement& placement : cluster_.Attempt(job_).ranks()) {
      if (placement.node_id() != id) continue;
      v1::RankReport& rank = *report.add_ranks();
      rank.set_rank(placement.rank());
      rank.set_running(true);
      rank.set_step(step_);
      rank.set_phase("train");
    }
  }

  void Record(double loss, double tokens_per_second) {
    v1::TelemetryRecord record;
    record.set_time_ms(cluster_.now);
    record.mutable_metrics()->set_step(step_);
    auto& values = *record.mutable_metrics()->mutable_values();
    values["loss"] = loss;
    values["step_seconds"] = 1;
    values["tokens_per_second"] = tokens_per_second;
    Send(record);
  }

  void Alert(const std::string& code) {
    v1::TelemetryRecord record;
    record.set_time_ms(cluster_.now);
    record.mutable_alert()->set_code(code);
    record.mutable_alert()->set_step(step_);
    record.mutable_alert()->set_message("No space left on device");
    Send(record);
  }

  void Send(const v1::TelemetryRecord& record) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job_);
    batch.mutable_stream()->set_attempt(cluster_.Attempt(job_).number());
    *batch.add_records() = record;
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
    WatchLosses(cluster_.state, "a", batch, cluster_.observations);
  }

  // The ledger as the pages show it.
  double SecondsIn(v1::LedgerPhase phase) const {
    v1::Job job = cluster_.Job(job_);
    MergeObserved(cluster_.Job(job_), cluster_.observations, cluster_.now, job);
    return SecondsOf(LedgerOf(job, cluster_.now), phase);
  }

  v1::JobHealth Health() const {
    return HealthOf(cluster_.state, cluster_.observations, cluster_.state.jobs.at(job_),
                    cluster_.now);
  }
  v1::HealthWord Word() const { return Health().word(); }
  std::vector<v1::HealthWord> Words() const {
    std::vector<v1::HealthWord> words;
    const v1::JobHealth health = Health();
    for (const v1::HealthFinding& finding : health.findings()) words.push_back(finding.word());
    return words;
  }

  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  TestCluster cluster_;
  int64_t job_ = 0;
  int64_t step_ = 0;
};

TEST_F(JobHealthTest, AHealthyRunIsOkForTenMinutes) {
  for (int i = 0; i < 600; ++i) {
    Train(1);
    ASSERT_EQ(Word(), v1::HEALTH_WORD_OK) << "after " << i << " s";
  }
  EXPECT_THAT(Health().findings(), IsEmpty());
}

TEST_F(JobHealthTest, ALossThatIsNotFiniteIsDivergingAtItsFirstRecord) {
  Train(20);
  Train(1, kNan);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_DIVERGING);
  EXPECT_EQ(Health().findings(0).message(), "loss has not been finite since step 21");
  const v1::WhyJobResponse why = ExplainJob(cluster_.View(), cluster_.state.jobs.at(job_));
  EXPECT_EQ(why.pending().code(), v1::PENDING_CODE_DIVERGING);
  EXPECT_THAT(why.answer(), HasSubstr("loss has not been finite since step 21"));
  EXPECT_EQ(why.job().health().word(), v1::HEALTH_WORD_DIVERGING);
  Train(1);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_OK);
}

TEST_F(JobHealthTest, TheAdviceForADivergingRunNamesOnlyCheckpointsThatExist) {
  Train(20);
  Train(1, kNan);
  EXPECT_THAT(Health().findings(0).advice(), HasSubstr("submit it again from the start"));
  cluster_.Publish(job_, 21);
  EXPECT_THAT(Health().findings(0).advice(), HasSubstr("submit it again from the start"));
  cluster_.Publish(job_, 20);
  EXPECT_THAT(Health().findings(0).advice(), HasSubstr("again from a checkpoint before that step"));
}

TEST_F(JobHealthTest, ALossThatSpikesTenTimesInARowIsDiverging) {
  Train(20);
  Train(9, 9);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_OK);
  Train(1, 9);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_DIVERGING);
  EXPECT_EQ(Health().findings(0).message(), "the loss has spiked at every record since step 21");
  // After 100 records the guard accepts the new level. The run is still diverging.
  Train(200, 9);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_DIVERGING);
  Train(1);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_OK);
}

TEST_F(JobHealthTest, TimeThatARunDivergedStaysInTheLedger) {
  Train(20);
  Train(30, kNan);
  Train(20);
  EXPECT_NEAR(SecondsIn(v1::LEDGER_PHASE_DIVERGING), 30, 1);
  EXPECT_NEAR(SecondsIn(v1::LEDGER_PHASE_TRAIN), 40, 2);
  // The event log contains this time. A restarted controller therefore knows the time, even without
  // observations.
  cluster_.observations.attempts.clear();
  EXPECT_NEAR(SecondsIn(v1::LEDGER_PHASE_DIVERGING), 30, 1);
}

TEST_F(JobHealthTest, TimeThatARunWasSlowStaysInTheLedgerWhenItEndsSlow) {
  Train(60);
  Train(300, 2.5, 2000);
  const double before = SecondsIn(v1::LEDGER_PHASE_SLOW);
  EXPECT_GE(before, 60) << "a minute at the latest";
  cluster_.ExitAll(job_, 0);
  cluster_.ClearAll(job_);
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_SUCCEEDED);
  EXPECT_NEAR(SecondsIn(v1::LEDGER_PHASE_SLOW), 200, 20);
  EXPECT_EQ(SecondsIn(v1::LEDGER_PHASE_UNSAVED), 0);
}

TEST_F(JobHealthTest, StepsOfAnEndedRunThatNoCheckpointContainsAreUnsaved) {
  Train(20);
  cluster_.Publish(job_, step_);
  Train(20);
  EXPECT_EQ(SecondsIn(v1::LEDGER_PHASE_UNSAVED), 0) << "saves work";
  cluster_.Stop(job_, /*kill=*/true);
  cluster_.ExitAll(job_, 137);
  cluster_.ClearAll(job_);
  EXPECT_NEAR(SecondsIn(v1::LEDGER_PHASE_UNSAVED), 20, 2);
  EXPECT_NEAR(SecondsIn(v1::LEDGER_PHASE_TRAIN), 20, 2);
}

TEST_F(JobHealthTest, AGangThatStandsStillIsStalledAndAgainOkWhenItGoesOn) {
  Train(20);
  const Timestamp stood_still = cluster_.now;
  cluster_.Pass(12'000);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_STALLED);
  EXPECT_NEAR(Health().findings(0).since_ms(), stood_still, 1000);
  EXPECT_EQ(Health().findings(0).message(), "no rank has made progress since step 20");
  Train(1);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_OK);
}

TEST_F(JobHealthTest, ARunAtAThirdOfItsRateIsSlow) {
  Train(60);
  Train(30, 2.5, 2000);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_SLOW);
  EXPECT_EQ(Health().findings(0).message(), "the run is 3.0 times slower than its own best rate");
}

TEST_F(JobHealthTest, AFailedSaveIsUnsavedWithTheStepsAtRisk) {
  Train(20);
  EXPECT_EQ(Health().steps_at_risk(), 20);
  Alert("checkpoint_failed");
  const Timestamp failed = cluster_.now;
  Train(5);
  Alert("checkpoint_failed");
  EXPECT_EQ(Word(), v1::HEALTH_WORD_UNSAVED);
  EXPECT_EQ(Health().findings(0).since_ms(), failed);
  EXPECT_EQ(Health().saved_step(), 0);
  EXPECT_EQ(Health().at_risk_since_ms(), cluster_.Attempt(job_).started_time_ms());
  cluster_.Publish(job_, 24);
  EXPECT_EQ(Health().steps_at_risk(), 1);
  EXPECT_EQ(Health().saved_step(), 24);
}

TEST_F(JobHealthTest, TheWorstWordWinsAndTheOthersFollow) {
  Train(60);
  Alert("checkpoint_failed");
  Train(30, 2.5, 2000);
  Train(1, kNan, 2000);
  EXPECT_THAT(Words(), ElementsAre(v1::HEALTH_WORD_DIVERGING, v1::HEALTH_WORD_UNSAVED,
                                   v1::HEALTH_WORD_SLOW));
}

TEST_F(JobHealthTest, OnlyJobsThatStartRunOrRecoverHaveAWord) {
  const int64_t waiting = cluster_.Submit(TestSpec("waiting", 2, 2));
  EXPECT_EQ(
      HealthOf(cluster_.state, cluster_.observations, cluster_.state.jobs.at(waiting), cluster_.now)
          .word(),
      v1::HEALTH_WORD_UNSPECIFIED);
  cluster_.Stop(job_);
  EXPECT_EQ(Word(), v1::HEALTH_WORD_UNSPECIFIED);
}

}  // namespace
}  // namespace trainyard::controller
