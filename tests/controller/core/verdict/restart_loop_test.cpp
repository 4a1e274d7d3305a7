#include "controller/core/verdict/restart_loop.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kKeyError[] = "Traceback (most recent call last):\nKeyError: 'x'\n";

class RestartLoopTest : public ::testing::Test {
 protected:
  void Submit(int max_restarts) {
    for (const char* id : {"a", "b"}) cluster_.AddNode(id, 2);
    v1::JobSpec spec = TestSpec("job", 2, 2);
    spec.mutable_restart()->set_max_restarts(max_restarts);
    spec.mutable_restart()->mutable_window()->set_seconds(86'400);
    spec.mutable_restart()->mutable_backoff()->set_seconds(1);
    spec.mutable_restart()->mutable_backoff_max()->set_seconds(1);
    // Without this rule, the second equal failure ends the job.
    spec.mutable_restart()->add_rules("retry .");
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
  }

  // The attempt reaches `step` in 10 s, then a rank exits. The next attempt is started.
  void Fail(int rank, int64_t step, const std::string& tail, int code = 1) {
    Train(10, step);
    v1::RankExited exited;
    exited.set_rank(rank);
    exited.set_exit_code(code);
    exited.set_log_tail(tail);
    exited.set_time_ms(cluster_.now);
    cluster_.Exit(job_, exited);
    cluster_.Settle();
    failed_ms_ = cluster_.now;
    cluster_.ClearAll(job_);
    cluster_.Pass(2000);
    cluster_.StartAll(job_);
  }

  void Train(int seconds, int64_t step) {
    cluster_.Step(job_, 0, step, 0.1);
    cluster_.Pass(1000 * seconds);
  }

  std::optional<v1::HealthFinding> Find() const {
    return WhyLooping(cluster_.observations, cluster_.state.jobs.at(job_), cluster_.now);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
  Timestamp failed_ms_ = 0;
};

TEST_F(RestartLoopTest, TheThirdEqualCauseIsALoop) {
  Submit(20);
  Fail(2, 40, kKeyError);
  Fail(2, 47, kKeyError);
  EXPECT_FALSE(Find().has_value());
  Fail(3, 44, kKeyError);
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->word(), v1::HEALTH_WORD_LOOPING);
  EXPECT_EQ(found->since_ms(), failed_ms_);
  EXPECT_THAT(found->ranks(), ElementsAre(3));
  EXPECT_THAT(found->message(), HasSubstr("attempts 1 to 3 failed for one cause: "));
  EXPECT_THAT(found->message(), HasSubstr("3 of 20 restarts within 24 h are used"));
  Fail(2, 40, kKeyError);
  EXPECT_LT(Find()->since_ms(), failed_ms_) << "the loop began with the third failure";
}

TEST_F(RestartLoopTest, DifferentCausesAreNone) {
  Submit(20);
  Fail(2, 40, kKeyError);
  Fail(2, 40, "ValueError: no such file\n");
  Fail(2, 40, kKeyError);
  Fail(2, 40, kKeyError, 7);
  EXPECT_FALSE(Find().has_value());
}

TEST_F(RestartLoopTest, EndsWhenTheAttemptLivesLongerAndGetsFurther) {
  Submit(20);
  for (int i = 0; i < 3; ++i) Fail(2, 40, kKeyError);
  Train(30, 39);
  EXPECT_TRUE(Find().has_value()) << "it may fail at step 40 again";
  Train(1, 41);
  EXPECT_FALSE(Find().has_value());
}

TEST_F(RestartLoopTest, ABudgetThatIsNearlyUsedIsALoopWhateverTheCauses) {
  Submit(4);
  Fail(2, 40, kKeyError);
  Fail(2, 80, "ValueError: a\n");
  Fail(2, 120, "TypeError: b\n");
  Train(60, 200);
  EXPECT_FALSE(Find().has_value());
  Fail(2, 240, "OSError: c\n");
  Train(60, 300);
  ASSERT_TRUE(Find().has_value());
  EXPECT_EQ(Find()->message(),
            "4 of 4 restarts within 24 h are used, so the job ends after 1 more failure");
}

TEST_F(RestartLoopTest, FailuresBeforeTheWindowDoNotCount) {
  Submit(20);
  for (int i = 0; i < 3; ++i) Fail(2, 40, kKeyError);
  ASSERT_TRUE(Find().has_value());
  cluster_.now += 86'400'000;
  EXPECT_FALSE(Find().has_value());
}

TEST_F(RestartLoopTest, AJobThatIsStoppedHasNone) {
  Submit(20);
  for (int i = 0; i < 3; ++i) Fail(2, 40, kKeyError);
  cluster_.Stop(job_);
  EXPECT_FALSE(Find().has_value());
}

}  // namespace
}  // namespace trainyard::controller
