#include "controller/core/health/gang_limit.h"

#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/gang_scenes.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GangLimitTest : public ::testing::TestWithParam<SceneCase> {};

TEST_P(GangLimitTest, EachStateHasItsLimit) {
  GangScene scene;
  GetParam().enter(scene);
  scene.Pass(1000);
  const GangLimit limit = scene.Limit();
  EXPECT_EQ(RowOf(limit.state).text, RowOf(GetParam().state).text);
  EXPECT_EQ(limit.ms, GetParam().ms);
  EXPECT_EQ(limit.source, GetParam().source)
      << SourceText(limit.source, scene.cluster.Job(scene.job).spec());
}

TEST_P(GangLimitTest, WhyShowsTheLimitOfALiveGang) {
  GangScene scene;
  GetParam().enter(scene);
  scene.Pass(1000);
  if (GetParam().state == GangState::kStopping) {
    EXPECT_THAT(scene.Why(), Not(HasSubstr("should have exited")));
    scene.Pass(*GetParam().ms);
    EXPECT_THAT(scene.Why(), HasSubstr("; its ranks should have exited within "));
  } else if (GetParam().ms.has_value()) {
    EXPECT_THAT(scene.Why(), HasSubstr("; the gang "));
    EXPECT_THAT(scene.Why(), HasSubstr(": it is restarted after "));
  } else {
    EXPECT_THAT(scene.Why(), HasSubstr(": stalls are not detected; "));
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, GangLimitTest, ::testing::ValuesIn(AllScenes()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(GangLimitScenesTest, CoverEveryStateAndEverySource) {
  std::set<GangState> states;
  std::set<LimitSource> sources;
  for (const SceneCase& scene : AllScenes()) {
    states.insert(scene.state);
    sources.insert(scene.source);
  }
  EXPECT_EQ(states.size(), kGangStates.size());
  EXPECT_EQ(sources.size(), static_cast<std::size_t>(LimitSource::kStopGrace) + 1);
}

// The table in controller/core/README.md must contain a row for each state.
TEST(GangLimitScenesTest, TheReadmeHasEveryState) {
  std::ifstream file(TRAINYARD_CORE_README);
  std::string table;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| ")) table += line.substr(0, line.find('|', 1)) + "\n";
  }
  for (const GangStateRow& row : kGangStates) EXPECT_THAT(table, HasSubstr(row.text));
}

TEST(GangLimitTextTest, NamesTheLimitItsMeasureAndItsSource) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.SayAll("train", 100);
  for (const int rank : {0, 1}) scene.Rank(rank).set_slow_step_ms(8000);
  scene.Pass(1000);
  EXPECT_THAT(scene.Why(), HasSubstr("; the gang trains: it is restarted after 24 s without a step "
                                     "or a phase (3 x the job's slow step time)"));
  scene.SayAll("load", 100);
  scene.Pass(1000);
  EXPECT_THAT(
      scene.Why(),
      HasSubstr("; the gang starts: it is restarted after 4 h without a "
                "step, a phase, telemetry or output (the default, because the job has no earlier "
                "duration to compare with)"));
}

TEST(GangLimitTextTest, SaysWhatTheWatchdogDoesAtTheLimit) {
  for (const auto& [action, text] :
       {std::pair(v1::WATCHDOG_ACTION_ALERT, "the watchdog alerts after 10 min"),
        std::pair(v1::WATCHDOG_ACTION_OFF, "watchdog.action is off, so stalls are not detected")}) {
    GangScene scene;
    v1::JobSpec spec = OwnProgram();
    spec.mutable_watchdog()->set_action(action);
    scene.Run(spec);
    scene.SayAll("train", 100);
    scene.Pass(1000);
    EXPECT_THAT(scene.Why(), HasSubstr(text));
  }
}

TEST(GangLimitTextTest, SaysHowAProgramWithoutALimitGetsOne) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.SayAll("", 0);
  scene.Pass(1000);
  EXPECT_THAT(scene.Why(),
              HasSubstr("the gang reports neither steps nor phases: stalls are not "
                        "detected; set log_parser and watchdog.longest_pause to detect them"));
  scene.SayAll("", 3);
  scene.Pass(1000);
  EXPECT_THAT(scene.Why(), HasSubstr("the gang reports steps but no phases: stalls are not "
                                     "detected; set watchdog.longest_pause to detect them"));
}

// The program reports only every tenth step.
TEST(GangLimitPaceTest, StepTimesCountForEveryStepUntilTheNextReport) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.SayAll("train", 20);
  for (const int64_t step : {10, 20}) scene.cluster.Step(scene.job, 0, step, 2);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().source, LimitSource::kStepTimes);
  EXPECT_EQ(scene.Limit().ms, 60'000);
}

// The program reports every tenth step.
TEST(GangLimitPaceTest, OneReportOfAProgramOfOthersIsNoPace) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.SayAll("train", 100);
  scene.cluster.Step(scene.job, 0, 100, 2);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().source, LimitSource::kNoPace);
}

TEST(GangLimitPaceTest, TheLongestStateOfTheRanksCounts) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.Say(0, "train", 100);
  scene.Say(1, "eval", 100);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().state, GangState::kEvaluation);
  scene.Say(0, "checkpoint", 100);
  scene.cluster.observations.longest_phase_ms[scene.job]["eval"] = 100'000;
  scene.cluster.observations.longest_phase_ms[scene.job]["checkpoint"] = 200'000;
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().state, GangState::kCheckpoint);
  EXPECT_EQ(scene.Limit().ms, 600'000);
}

// The watchdog mistook loading for a hang each time, so the real duration of loading is unknown.
TEST(GangLimitPaceTest, EachHangInARowGivesAnUnknownPhaseMoreTime) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.SayAll("load", 0);
  scene.Pass(1000);
  v1::Job& job = scene.cluster.state.jobs.at(scene.job).job;
  const v1::Attempt attempt = job.attempts(0);
  v1::Attempt hung = attempt;
  hung.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_STALLED);
  int64_t limit_ms = scene.cluster.options.unknown_phase_ms;
  for (int hangs = 0; hangs < 7; ++hangs) {
    job.clear_attempts();
    for (int i = 0; i < hangs; ++i) *job.add_attempts() = hung;
    *job.add_attempts() = attempt;
    EXPECT_EQ(scene.Limit().ms, limit_ms) << hangs;
    if (hangs < 4) limit_ms *= 3;
  }
}

TEST(GangLimitPaceTest, OfEquallyLongStatesThatOfTheLowestRankCounts) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.Say(0, "load", 0);
  scene.Say(1, "sample", 0);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().ms, scene.cluster.options.unknown_phase_ms);
  EXPECT_EQ(scene.Limit().state, GangState::kStart);
}

TEST(GangLimitPaceTest, TheLongestPauseCountsFromTheFirstStepAndOnlyShortensALimit) {
  GangScene scene;
  v1::JobSpec spec = OwnProgram();
  spec.mutable_watchdog()->mutable_longest_pause()->set_seconds(60);
  scene.Run(spec);
  scene.SayAll("train", 0);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().source, LimitSource::kUnknownPhase) << "it may load and compile";
  scene.SayAll("train", 1);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().source, LimitSource::kLongestPause);
  EXPECT_EQ(scene.Limit().ms, 60'000);
  scene.SayAll("train", 100);
  for (const int rank : {0, 1}) scene.Rank(rank).set_slow_step_ms(20'000);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().ms, 60'000);
  EXPECT_EQ(scene.Limit().source, LimitSource::kSlowSteps) << "3 x 20 s is not longer";
}

TEST(GangLimitPaceTest, StepsCountFromTheStepThatTheAttemptResumedFrom) {
  for (const auto& [step, state] :
       {std::pair(100, GangState::kFirstStep), std::pair(101, GangState::kSecondStep),
        std::pair(102, GangState::kTrain)}) {
    GangScene scene;
    scene.Run(OwnProgram());
    scene.cluster.state.jobs.at(scene.job).job.mutable_attempts(0)->set_resume_step(100);
    scene.SayAll("train", step);
    scene.Pass(1000);
    EXPECT_EQ(scene.Limit().state, state) << step;
  }
}

TEST(GangLimitPaceTest, ARunOfOneStepFinishesAtIt) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.SayAll("train", 1);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().state, GangState::kSecondStep) << "its total is unknown";
  scene.cluster.observations.attempts.begin()->second.total_steps = 1;
  EXPECT_EQ(scene.Limit().state, GangState::kFinish);
}

TEST(GangLimitPaceTest, AStateWithoutALimitIsLongerThanAnyOther) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.Say(0, "", 100);
  scene.Say(1, "train", 100);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().state, GangState::kUnphased);
  EXPECT_EQ(scene.Limit().ms, std::nullopt);
}

TEST(GangLimitPaceTest, AnEarlierTimeOfAMillisecondCounts) {
  GangScene scene;
  scene.Run(OurTrainer());
  scene.SayAll("train", 100);
  scene.Pass(1000);
  scene.cluster.observations.progress[scene.job].set_step_seconds(0.0015);
  EXPECT_EQ(scene.Limit().source, LimitSource::kEarlierSteps);
  EXPECT_EQ(scene.Limit().ms, kShortestPhaseLimitMs);
  scene.SayAll("checkpoint", 100);
  scene.Pass(1000);
  v1::Job& job = scene.cluster.state.jobs.at(scene.job).job;
  const v1::Attempt live = job.attempts(0);
  job.mutable_attempts(0)->set_state(v1::ATTEMPT_STATE_ENDED);
  job.mutable_attempts(0)->mutable_time_use()->set_checkpoint_ms(1);
  *job.add_attempts() = live;
  EXPECT_EQ(scene.Limit().source, LimitSource::kEarlierPhases);
  EXPECT_EQ(scene.Limit().ms, kShortestPhaseLimitMs);
}

// Rank 0 exited while waiting for rank 1. Rank
// 1 may be saving without reporting a phase.
TEST(GangLimitPaceTest, AWaitForARankThatStaysDoesNotShortenTheLimit) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.SayAll("train", 100);
  for (const int rank : {0, 1}) scene.Rank(rank).set_slow_step_ms(1000);
  scene.WaitForRank1();
  scene.Pass(1000);
  scene.Leave(0);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().state, GangState::kLeft);
  EXPECT_EQ(scene.Limit().ms, kShortestPhaseLimitMs);
  EXPECT_TRUE(scene.Limit().output_counts);
}

// The gang has written output since its newest step, so its limit is the longest pause.
TEST(GangLimitSinceTest, OutputCountsWithALongestPauseOnlyIfNoStepMayFollow) {
  struct Case {
    const char* phase;
    bool leaves;
    GangState state;
    bool output_counts;
  };
  for (const Case& one : {Case{"eval", false, GangState::kEvaluation, false},
                          Case{"train", true, GangState::kLeft, true},
                          Case{"done", false, GangState::kFinish, true}}) {
    GangScene scene;
    v1::JobSpec spec = OwnProgram();
    spec.mutable_watchdog()->mutable_longest_pause()->set_seconds(60);
    scene.Run(spec);
    scene.SayAll(one.phase, 100);
    const Timestamp step_ms = scene.cluster.now + 500;
    scene.Pass(1000);
    if (one.leaves) scene.Leave(1);
    scene.WriteOutput();
    const Timestamp output_ms = scene.cluster.now + 500;
    scene.Pass(1000);
    const GangLimit limit = scene.Limit();
    EXPECT_EQ(limit.state, one.state) << one.phase;
    EXPECT_EQ(limit.source, LimitSource::kLongestPause) << one.phase;
    EXPECT_EQ(limit.output_counts, one.output_counts) << one.phase;
    EXPECT_EQ(limit.since_ms, one.output_counts ? output_ms : step_ms) << one.phase;
  }
}

// After a restart of the controller, telemetry may arrive before the first report.
TEST(GangLimitSinceTest, TheNewestProgressIsUnknownBeforeTheFirstReport) {
  for (const int64_t longest_pause_s : {0, 60}) {
    GangScene scene;
    v1::JobSpec spec = OwnProgram();
    if (longest_pause_s > 0) {
      spec.mutable_watchdog()->mutable_longest_pause()->set_seconds(longest_pause_s);
    }
    scene.Run(spec);
    scene.RestartController();
    scene.cluster.Step(scene.job, 0, 5, 1);
    EXPECT_EQ(scene.Limit().state, GangState::kUnphased);
    EXPECT_EQ(scene.Limit().since_ms, 0) << longest_pause_s;
  }
}

TEST(GangLimitSinceTest, AStopInTheFutureHasAnUnknownTime) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.cluster.Stop(scene.job);
  scene.cluster.Settle();
  const Timestamp stop_ms = scene.Attempt().stopping_time_ms();
  ASSERT_GT(stop_ms, 0);
  scene.cluster.now = stop_ms;
  EXPECT_EQ(scene.Limit().state, GangState::kStopping);
  EXPECT_EQ(scene.Limit().since_ms, stop_ms);
  scene.cluster.now = stop_ms - 1;
  EXPECT_EQ(scene.Limit().since_ms, 0) << "the clock was set back";
}

TEST(GangLimitTextTest, AStopIsOverdueFromOneMillisecondAfterItsLimit) {
  GangScene scene;
  scene.Run(OwnProgram());
  const auto text = [&](Timestamp since_ms, Timestamp now) {
    return LimitText({.state = GangState::kStopping,
                      .ms = 10'000,
                      .source = LimitSource::kStopGrace,
                      .since_ms = since_ms},
                     scene.cluster.state.jobs.at(scene.job), now);
  };
  const std::string overdue =
      "its ranks should have exited within 10 s (the grace period, then SIGKILL)";
  EXPECT_EQ(text(0, 20'000), "") << "the start of the stop is unknown";
  EXPECT_EQ(text(1, 10'001), "");
  EXPECT_EQ(text(1, 10'002), overdue);
}

}  // namespace
}  // namespace trainyard::controller
