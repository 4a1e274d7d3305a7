#include "controller/core/health/straggler_watch.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/explain/explain.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StragglerWatchTest : public ::testing::Test {
 protected:
  void Run(int ranks, double ratio = 1.3, int pipeline = 1) {
    for (const char* id : {"a", "b"}) cluster_.AddNode(id, ranks / 2);
    v1::JobSpec spec = TestSpec("job", 2, ranks / 2);
    spec.mutable_watchdog()->set_slow_rank_ratio(ratio);
    spec.mutable_layout()->set_pp(pipeline);
    spec.mutable_layout()->set_dp(ranks / pipeline);
    ranks_ = ranks;
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
  }

  // Sends heartbeats for `seconds` seconds. In each step, rank i computes for `seconds_[i]`
  // seconds.
  std::vector<v1::Event> Train(int seconds) {
    std::vector<v1::Event> all;
    for (int i = 0; i < seconds; ++i) {
      ++step_;
      for (const char* id : {"a", "b"}) Fill(id);
      for (v1::Event& event : cluster_.Pass(1000)) all.push_back(std::move(event));
    }
    return all;
  }

  void Fill(const std::string& id) {
    v1::AttemptReport& report = cluster_.Report(id, job_);
    report.clear_ranks();
    for (int number = 0; number < ranks_; ++number) {
      if (cluster_.Attempt(job_).ranks(number).node_id() != id) continue;
      v1::RankReport& rank = *report.add_ranks();
      rank.set_rank(number);
      rank.set_running(true);
      rank.set_step(step_);
      rank.set_phase("train");
      rank.mutable_newest()->set_step(step_);
      const double seconds = seconds_.contains(number) ? seconds_.at(number) : 0.1;
      rank.mutable_newest()->mutable_step_time()->set_compute(seconds);
    }
  }

  TestCluster cluster_;
  int ranks_ = 0;
  int64_t job_ = 0;
  int64_t step_ = 0;
  std::map<int, double> seconds_;
};

TEST_F(StragglerWatchTest, OneOfEightIsNamedOnceAndItsNodeBlamed) {
  Run(8);
  seconds_[5] = 0.2;
  EXPECT_THAT(Train(55), IsEmpty()) << "a minute must show it";
  const std::vector<v1::Event> events = Train(300);
  ASSERT_THAT(Kinds(events), ElementsAre("AlertRaised", "NodeBlamed"));
  const v1::AlertRaised& alert = events[0].alert_raised();
  EXPECT_EQ(alert.job_id(), job_);
  EXPECT_EQ(alert.code(), "slow_rank");
  EXPECT_EQ(alert.message(),
            "rank 5 on b computes for 0.2 s per step, 2.0 times the median of its 8 peer ranks "
            "(0.1 s)");
  EXPECT_TRUE(alert.by_watchdog());
  EXPECT_EQ(events[1].node_blamed().evidence().fault(), v1::NODE_FAULT_SLOW);
  EXPECT_EQ(events[1].node_blamed().node_id(), "b");
  EXPECT_EQ(events[1].node_blamed().evidence().rank(), 5);
  EXPECT_EQ(events[1].node_blamed().evidence().reason(), alert.message());
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING) << "it is left alone";
}

TEST_F(StragglerWatchTest, WhySaysForWhomTheGangWaits) {
  Run(8);
  seconds_[5] = 0.2;
  seconds_[6] = 0.15;
  Train(70);
  const v1::WhyJobResponse why = ExplainJob(cluster_.View(), cluster_.state.jobs.at(job_));
  EXPECT_EQ(why.pending().code(), v1::PENDING_CODE_SLOW_RANK);
  EXPECT_THAT(why.answer(), HasSubstr("rank 5 computes 2.0 times as long as its 8 peer ranks "
                                      "and holds up every step"));
  EXPECT_THAT(why.pending().advice(), HasSubstr("trainyard node cordon b"));
  const v1::HealthFinding& finding = why.job().health().findings(0);
  EXPECT_EQ(finding.word(), v1::HEALTH_WORD_SLOW);
  EXPECT_THAT(finding.ranks(), ElementsAre(5, 6)) << "the slowest first";
  EXPECT_EQ(finding.node(), "b");
  EXPECT_GT(finding.since_ms(), 0);
}

TEST_F(StragglerWatchTest, ALittleOrAShortWhileIsNoStraggler) {
  Run(8);
  seconds_[5] = 0.129;
  EXPECT_THAT(Train(120), IsEmpty());
  seconds_[5] = 0.5;
  EXPECT_THAT(Train(20), IsEmpty()) << "less than half of the window";
  seconds_[5] = 0.1;
  EXPECT_THAT(Train(120), IsEmpty());
}

TEST_F(StragglerWatchTest, TinyTimesAreNotCompared) {
  Run(8);
  for (int rank = 0; rank < 8; ++rank) seconds_[rank] = rank == 5 ? 0.004 : 0.001;
  EXPECT_THAT(Train(120), IsEmpty());
}

TEST_F(StragglerWatchTest, StagesOfAPipelineAreComparedWithThemselves) {
  Run(8, 1.3, 2);
  for (int rank = 4; rank < 8; ++rank) seconds_[rank] = 0.3;
  EXPECT_THAT(Train(120), IsEmpty()) << "the last stage has more work";
  seconds_[6] = 0.6;
  EXPECT_THAT(Kinds(Train(120)), ElementsAre("AlertRaised", "NodeBlamed"));
}

TEST_F(StragglerWatchTest, TwoRanksHaveNoMedian) {
  Run(2);
  seconds_[1] = 5;
  EXPECT_THAT(Train(120), IsEmpty());
}

TEST_F(StragglerWatchTest, ARatioOfZeroTurnsItOff) {
  Run(8, 0);
  seconds_[5] = 5;
  EXPECT_THAT(Train(120), IsEmpty());
}

// A running job on one node. The compute times are values that binary floating point represents
// exactly.
class StragglerRuleTest : public ::testing::Test {
 protected:
  StragglerRuleTest() {
    cluster_.AddNode("a", 6);
    job_ = cluster_.Submit("job", 1, 6);
    cluster_.RunJob(job_);
    Entry().job.mutable_spec()->mutable_watchdog()->set_slow_rank_ratio(2);
  }

  JobEntry& Entry() { return cluster_.state.jobs.at(job_); }
  AttemptObservation& Observed() { return cluster_.observations.attempts[{job_, 1}]; }
  // Sets the compute times: in every step, rank i computes for `seconds[i]` seconds.
  void Compute(const std::vector<double>& seconds) {
    Observed() = AttemptObservation{.measures_compute = true};
    for (std::size_t rank = 0; rank < seconds.size(); ++rank) {
      RankObservation& observed = Observed().ranks[static_cast<int>(rank)];
      observed.step = 40 + static_cast<int64_t>(rank);
      for (std::size_t i = 0; i < ComputeWindow::kTimes; ++i) {
        observed.compute.Add(seconds[rank],
                             10'000 + static_cast<int64_t>(i) * ComputeWindow::kSpacingMs);
      }
    }
  }
  // Returns the stragglers found. "3: 2 of 0.5, 4" means that rank 3 took 2 s and that the median
  // of 4 ranks is 0.5 s.
  std::vector<std::string> Found() {
    std::vector<std::string> found;
    for (const Straggler& straggler : FindStragglers(cluster_.observations, Entry())) {
      found.push_back(absl::StrCat(straggler.rank, ": ", straggler.seconds, " of ",
                                   straggler.median_seconds, ", ", straggler.compared));
    }
    return found;
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(StragglerRuleTest, ThreeRanksAreEnoughToCompare) {
  Compute({0.25, 0.25, 2});
  EXPECT_THAT(Found(), ElementsAre("2: 2 of 0.25, 3"));
  Compute({0.25, 2});
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(StragglerRuleTest, TheMedianOfAnEvenNumberIsTheUpperMiddleTime) {
  Compute({2, 0.125, 0.5, 0.25});
  EXPECT_THAT(Found(), ElementsAre("0: 2 of 0.5, 4"));
}

TEST_F(StragglerRuleTest, OnlyATimeAboveTheRatioIsSlow) {
  Compute({0.25, 0.25, 0.5});
  EXPECT_THAT(Found(), IsEmpty());
  Compute({0.25, 0.25, 0.5625});
  EXPECT_THAT(Found(), ElementsAre("2: 0.5625 of 0.25, 3"));
  Entry().job.mutable_spec()->mutable_watchdog()->set_slow_rank_ratio(1);
  Compute({0.25, 0.25, 0.375});
  EXPECT_THAT(Found(), ElementsAre("2: 0.375 of 0.25, 3"));
}

// Times this short are stored as 0, so the median is 0.
TEST_F(StragglerRuleTest, NothingIsAMultipleOfAMedianOfZero) {
  Compute({1e-60, 1e-60, 2});
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(StragglerRuleTest, RanksThatEndedAreNotCompared) {
  Compute({0.25, 0.25, 0.25, 2});
  Observed().ranks[3].running = false;
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(StragglerRuleTest, OnlyARunningJobWithMeasuredTimesHasStragglers) {
  Compute({0.25, 0.25, 2});
  Entry().job.set_state(v1::JOB_STATE_STOPPING);
  EXPECT_THAT(Found(), IsEmpty());
  Entry().job.set_state(v1::JOB_STATE_RUNNING);
  Observed().measures_compute = false;
  EXPECT_THAT(Found(), IsEmpty());
  cluster_.observations.attempts.clear();
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(StragglerRuleTest, TheEventsNameTheRankItsStepAndTheTime) {
  Compute({0.25, 0.25, 2});
  const std::string evidence =
      "rank 2 on a computes for 2 s per step, 8.0 times the median of its 3 peer ranks (0.25 s)";
  v1::Event alert;
  alert.set_time_ms(77);
  alert.set_actor("controller");
  v1::AlertRaised& raised = *alert.mutable_alert_raised();
  raised.set_job_id(job_);
  raised.set_attempt(1);
  raised.set_step(42);
  raised.set_code("slow_rank");
  raised.set_message(evidence);
  raised.set_by_watchdog(true);
  v1::Event blame;
  blame.set_time_ms(77);
  blame.set_actor("controller");
  blame.mutable_node_blamed()->set_node_id("a");
  v1::NodeEvidence& blamed = *blame.mutable_node_blamed()->mutable_evidence();
  blamed.set_time_ms(77);
  blamed.set_fault(v1::NODE_FAULT_SLOW);
  blamed.set_job_id(job_);
  blamed.set_attempt(1);
  blamed.set_rank(2);
  blamed.set_reason(evidence);
  const std::vector<v1::Event> events =
      StragglerEvents(cluster_.state, cluster_.observations, Entry(), 77);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].DebugString(), alert.DebugString());
  EXPECT_EQ(events[1].DebugString(), blame.DebugString());
}

// If the layout has fewer positions than the gang has ranks, the stages repeat.
TEST_F(StragglerRuleTest, StragglersOfSeveralStagesAreInTheOrderOfTheirRanks) {
  Entry().job.mutable_spec()->mutable_layout()->set_pp(2);
  Entry().job.mutable_spec()->mutable_layout()->set_dp(1);
  Compute({0.25, 2, 0.25, 0.25, 4, 0.25});
  EXPECT_THAT(Found(), ElementsAre("1: 2 of 0.25, 3", "4: 4 of 0.25, 3"));
}

}  // namespace
}  // namespace trainyard::controller
