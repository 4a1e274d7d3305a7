// Tests gangs that freeze in each state of controller/core/health/gang_limit.h, on a simulated
// clock. Each gang must end, or be reported as stalled, within the limit of its state. A gang that
// makes progress must not be stopped.
#include <algorithm>
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/gang_scenes.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

// Maximum time between the limit and the verdict. The slack covers one step of the clock, and the
// time until reports are steady after a restart.
constexpr int64_t kSlackMs = 10'000;
// Twice the longest limit.
constexpr int64_t kLongMs = 8 * 3'600'000;

class FrozenGangTest : public ::testing::TestWithParam<SceneCase> {
 protected:
  void SetUp() override {
    GetParam().enter(scene_);
    scene_.Pass(1000);
    attempt_ = scene_.cluster.Job(scene_.job).attempts_size() - 1;
    limit_ = scene_.Limit();
  }

  const v1::Attempt& Watched() const { return scene_.cluster.Job(scene_.job).attempts(attempt_); }
  bool IsJudged() const { return Watched().has_verdict(); }
  bool Ends() const {
    return limit_.ms.has_value() && RowOf(limit_.state).at_limit != AtLimit::kReported;
  }
  // Returns the remaining time until one clock step before the limit.
  int64_t Left() const { return limit_.since_ms + *limit_.ms - scene_.cluster.now - 3000; }

  GangScene scene_;
  GangLimit limit_;
  int attempt_ = 0;
};

TEST_P(FrozenGangTest, EndsAtItsLimitAndNotBefore) {
  if (!Ends()) GTEST_SKIP() << "it has no limit, or is reported only";
  if (Left() > 0) scene_.Pass(Left());
  EXPECT_FALSE(IsJudged()) << Watched().verdict().summary();
  scene_.Pass(kSlackMs);
  ASSERT_TRUE(IsJudged()) << scene_.Why();
  const v1::VerdictCause cause = limit_.state == GangState::kHealing
                                     ? v1::VERDICT_CAUSE_RANK_SIGNALED
                                     : v1::VERDICT_CAUSE_STALLED;
  EXPECT_EQ(Watched().verdict().cause(), cause) << Watched().verdict().summary();
}

TEST_P(FrozenGangTest, IsReportedWhereNothingEndsIt) {
  if (Ends()) GTEST_SKIP() << "it ends";
  scene_.Pass(kLongMs);
  EXPECT_EQ(scene_.cluster.Job(scene_.job).attempts_size(), attempt_ + 1);
  EXPECT_FALSE(IsJudged()) << Watched().verdict().summary();
  const bool stops = limit_.state == GangState::kStopping;
  EXPECT_THAT(scene_.Why(), HasSubstr(stops ? "its ranks should have exited within "
                                            : "stalls are not detected"));
}

// A node of the gang stops sending heartbeats at the moment when the ranks freeze. A data job
// continues without that node, because rank 0 does the work of the lost ranks.
TEST_P(FrozenGangTest, EndsWithinTheLeaseWhenANodeIsSilent) {
  if (scene_.cluster.state.jobs.at(scene_.job).exited_ranks.contains(1)) {
    GTEST_SKIP() << "no rank of the gang runs there any more";
  }
  scene_.cluster.StopHeartbeats("b");
  scene_.Pass(scene_.cluster.options.lease_ms + kSlackMs);
  const bool is_over = IsJudged() || Watched().state() == v1::ATTEMPT_STATE_STOPPING;
  EXPECT_EQ(is_over, limit_.state != GangState::kPreparesData) << scene_.Why();
}

// The restarted controller has lost its observations. The ranks are still frozen.
TEST_P(FrozenGangTest, EndsAtItsLimitAfterARestartOfTheController) {
  if (!Ends()) GTEST_SKIP() << "it has no limit, or is reported only";
  scene_.RestartController();
  scene_.Pass(1000);
  limit_ = scene_.Limit();
  ASSERT_TRUE(Ends()) << scene_.Why();
  scene_.Pass(*limit_.ms + kSlackMs);
  EXPECT_TRUE(IsJudged()) << scene_.Why();
}

// Before each limit expires, the gang completes a step or, in states where output counts, writes
// output.
TEST_P(FrozenGangTest, IsLeftAloneWhileItGoesOn) {
  const bool steps =
      limit_.state == GangState::kTrain || limit_.source == LimitSource::kLongestPause;
  const bool writes = limit_.ms.has_value() && limit_.output_counts;
  if (!Ends() || !(steps || writes)) GTEST_SKIP() << "nothing shows that it goes on";
  for (int i = 0; i < 5; ++i) {
    writes ? scene_.WriteOutput() : scene_.MakeStep();
    scene_.Pass(500);
    limit_ = scene_.Limit();
    if (Left() > 0) scene_.Pass(Left());
    ASSERT_FALSE(IsJudged()) << Watched().verdict().summary();
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, FrozenGangTest, ::testing::ValuesIn(AllScenes()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace trainyard::controller
