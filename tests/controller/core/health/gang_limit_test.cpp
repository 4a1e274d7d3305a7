#include "controller/core/health/gang_limit.h"

#include <fstream>
#include <set>
#include <string>

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
    EXPECT_THAT(scene.Why(), Not(HasSubstr("were to end")));
    scene.Pass(*GetParam().ms);
    EXPECT_THAT(scene.Why(), HasSubstr("; its ranks were to end within "));
  } else if (GetParam().ms.has_value()) {
    EXPECT_THAT(scene.Why(), HasSubstr("; the gang "));
    EXPECT_THAT(scene.Why(), HasSubstr(": it is restarted after "));
  } else {
    EXPECT_THAT(scene.Why(), HasSubstr(": nothing ends it if it hangs; "));
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

// The table in controller/core/README.md has a row for every state.
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
                                     "or a phase (3 x its slow steps)"));
  scene.SayAll("load", 100);
  scene.Pass(1000);
  EXPECT_THAT(scene.Why(), HasSubstr("; the gang starts: it is restarted after 4 h without a "
                                     "step, a phase, telemetry or output (no earlier one of the "
                                     "job is known)"));
}

TEST(GangLimitTextTest, SaysWhatTheWatchdogDoesAtTheLimit) {
  for (const auto& [action, text] :
       {std::pair(v1::WATCHDOG_ACTION_ALERT, "the watchdog alerts after 10 min"),
        std::pair(v1::WATCHDOG_ACTION_OFF, "watchdog.action is off, so nothing ends it")}) {
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
  EXPECT_THAT(scene.Why(), HasSubstr("the gang reports neither steps nor phases: nothing ends it "
                                     "if it hangs; a log_parser and watchdog.longest_pause set a "
                                     "limit"));
  scene.SayAll("", 3);
  scene.Pass(1000);
  EXPECT_THAT(scene.Why(), HasSubstr("the gang reports steps and no phases: nothing ends it if it "
                                     "hangs; watchdog.longest_pause sets a limit"));
}

// A program that reports every tenth step.
TEST(GangLimitPaceTest, StepTimesCountForEveryStepUntilTheNextReport) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.SayAll("train", 20);
  for (const int64_t step : {10, 20}) scene.cluster.Step(scene.job, 0, step, 2);
  scene.Pass(1000);
  EXPECT_EQ(scene.Limit().source, LimitSource::kStepTimes);
  EXPECT_EQ(scene.Limit().ms, 60'000);
}

// One report shows no pace: the next one may be a hundred steps away.
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

// Loads that the watchdog took for hangs have a length that nobody knows.
TEST(GangLimitPaceTest, EachHangInARowGivesAnUnknownPhaseMoreTime) {
  GangScene scene;
  scene.Run(OwnProgram());
  scene.SayAll("load", 0);
  scene.Pass(1000);
  v1::Job& job = scene.cluster.state.jobs.at(scene.job).job;
  const v1::Attempt attempt = job.attempts(0);
  v1::Attempt hung = attempt;
  hung.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_HUNG);
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

}  // namespace
}  // namespace trainyard::controller
