#include <set>

#include "controller/core/verdict/failure_policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/exit_code.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

// A job that may restart five times. After an attempt without progress, the backoff is 3 s.
class NextAttemptTest : public ::testing::Test {
 protected:
  static constexpr Timestamp kNow = 1'000'000;

  NextAttemptTest() {
    v1::RestartSpec& rules = *entry_.job.mutable_spec()->mutable_restart();
    rules.set_max_restarts(5);
    rules.mutable_window()->set_seconds(60);
    rules.mutable_backoff()->set_seconds(3);
    rules.mutable_backoff_max()->set_seconds(100);
  }

  static v1::Verdict VerdictFor(v1::VerdictCause cause) {
    v1::Verdict verdict;
    verdict.set_cause(cause);
    verdict.set_restartable(true);
    return verdict;
  }

  // Adds an attempt with one rank on each of the nodes "a" and "b".
  v1::Attempt& AddAttempt() {
    v1::Attempt& attempt = *entry_.job.add_attempts();
    attempt.set_number(entry_.job.attempts_size());
    for (const char* id : {"a", "b"}) {
      v1::RankPlacement& rank = *attempt.add_ranks();
      rank.set_rank(attempt.ranks_size() - 1);
      rank.set_node_id(id);
    }
    return attempt;
  }

  // Returns the decision after two attempts that ended with these exit codes.
  RestartDecision AfterCodes(ExitCode first, ExitCode second) {
    entry_.job.clear_attempts();
    v1::Verdict verdict = VerdictFor(v1::VERDICT_CAUSE_RANK_EXITED);
    for (const ExitCode code : {first, second}) {
      verdict.set_exit_code(static_cast<int>(code));
      *AddAttempt().mutable_verdict() = verdict;
    }
    return DecideRestart(entry_, verdict, 0, kNow);
  }

  JobEntry entry_;
};

TEST_F(NextAttemptTest, OnlyTheSecondLossInARowThatIsNotFiniteIsFinal) {
  EXPECT_TRUE(AfterCodes(ExitCode::kNotFinite, ExitCode::kInternal).not_before_ms.has_value());
  EXPECT_TRUE(AfterCodes(ExitCode::kInternal, ExitCode::kNotFinite).not_before_ms.has_value());
  const RestartDecision decision = AfterCodes(ExitCode::kNotFinite, ExitCode::kNotFinite);
  EXPECT_FALSE(decision.not_before_ms.has_value());
  EXPECT_TRUE(decision.in_vain);
  EXPECT_THAT(decision.refusal, HasSubstr("the loss was not finite twice in a row"));
}

TEST_F(NextAttemptTest, OnlyTheSecondFailureInARowToWriteIsFinal) {
  EXPECT_TRUE(AfterCodes(ExitCode::kCannotWrite, ExitCode::kInternal).not_before_ms.has_value());
  EXPECT_TRUE(AfterCodes(ExitCode::kInternal, ExitCode::kCannotWrite).not_before_ms.has_value());
  const RestartDecision decision = AfterCodes(ExitCode::kCannotWrite, ExitCode::kCannotWrite);
  EXPECT_FALSE(decision.not_before_ms.has_value());
  EXPECT_TRUE(decision.in_vain);
  EXPECT_THAT(decision.refusal, HasSubstr("neither attempt wrote a newer checkpoint"));
}

TEST_F(NextAttemptTest, TheShortestBackoffDoublesToo) {
  entry_.job.mutable_spec()->mutable_restart()->mutable_backoff()->set_seconds(0);
  entry_.job.mutable_spec()->mutable_restart()->mutable_backoff()->set_nanos(1'000'000);
  const auto wait_ms = [&](int without_progress) {
    entry_.restarts_without_progress = without_progress;
    const v1::Verdict verdict = VerdictFor(v1::VERDICT_CAUSE_RANK_EXITED);
    return *DecideRestart(entry_, verdict, 0, kNow).not_before_ms - kNow;
  };
  EXPECT_EQ(wait_ms(0), 1);
  EXPECT_EQ(wait_ms(1), 2);
  EXPECT_EQ(wait_ms(2), 4);
}

TEST_F(NextAttemptTest, AProgramThatCannotStartIsCountedWhereARuleTriesAgain) {
  AddAttempt();
  v1::Verdict verdict = VerdictFor(v1::VERDICT_CAUSE_SPAWN_FAILED);
  EXPECT_TRUE(DecideRestart(entry_, verdict, 0, kNow).uncounted);
  verdict.set_action(v1::FAILURE_ACTION_RETRY);
  const RestartDecision decision = DecideRestart(entry_, verdict, 0, kNow);
  EXPECT_FALSE(decision.uncounted);
  EXPECT_EQ(decision.not_before_ms, kNow + 3000);
}

TEST_F(NextAttemptTest, ALostNodeIsUncountedUnlessItHasStartedARank) {
  AddAttempt();
  v1::Verdict verdict = VerdictFor(v1::VERDICT_CAUSE_NODE_LOST);
  verdict.set_node_id("a");
  const auto is_uncounted = [&](const std::set<int>& started_ranks) {
    entry_.started_ranks = started_ranks;
    return DecideRestart(entry_, verdict, 0, kNow).uncounted;
  };
  EXPECT_TRUE(is_uncounted({}));
  EXPECT_TRUE(is_uncounted({1})) << "on the other node";
  EXPECT_FALSE(is_uncounted({0}));
  EXPECT_FALSE(is_uncounted({0, 1}));
}

TEST_F(NextAttemptTest, AFallbackToAnOlderCheckpointWaitsForTheBackoffAndIsUncounted) {
  v1::Verdict verdict = VerdictFor(v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED);
  verdict.set_checkpoint("/c/2");
  EXPECT_EQ(DecideRestart(entry_, verdict, 0, kNow).refusal,
            "no older checkpoint is left to fall back to");
  v1::Checkpoint& older = *entry_.job.add_checkpoints();
  older.set_path("/c/1");
  older.set_step(1);
  const RestartDecision decision = DecideRestart(entry_, verdict, 0, kNow);
  EXPECT_EQ(decision.not_before_ms, kNow + 3000);
  EXPECT_TRUE(decision.uncounted);
  EXPECT_EQ(decision.refusal, "");
}

TEST(RestartDecisionTest, NoRestartIsAllowedWhenTheBudgetIsZero) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  entry.job.mutable_spec()->mutable_restart()->set_max_restarts(0);
  const RestartDecision decision = DecideRestart(entry, verdict, 0, 1000);
  EXPECT_FALSE(decision.not_before_ms.has_value());
  EXPECT_EQ(decision.refusal, "restart.max_restarts is 0");
}

TEST(RestartDecisionTest, OnlyRestartsWithinTheWindowUseUpTheBudget) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  v1::RestartSpec& rules = *entry.job.mutable_spec()->mutable_restart();
  rules.set_max_restarts(2);
  rules.mutable_window()->set_seconds(60);
  entry.restart_times_ms = {1000, 2000};
  const RestartDecision refused = DecideRestart(entry, verdict, 0, 60'999);
  EXPECT_FALSE(refused.not_before_ms.has_value());
  EXPECT_EQ(refused.refusal, "the restart budget is used up: 2 restarts within 60 s");
  const RestartDecision allowed = DecideRestart(entry, verdict, 0, 61'000);
  EXPECT_EQ(allowed.not_before_ms, 61'000);
  EXPECT_FALSE(allowed.uncounted);
}

TEST(RestartDecisionTest, TheWaitDoublesWithEachRestartWithoutProgress) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  v1::RestartSpec& rules = *entry.job.mutable_spec()->mutable_restart();
  rules.set_max_restarts(5);
  rules.mutable_backoff()->set_seconds(3);
  rules.mutable_backoff_max()->set_seconds(100);
  const auto wait_ms = [&](int without_progress) {
    entry.restarts_without_progress = without_progress;
    return *DecideRestart(entry, verdict, 0, 1000).not_before_ms - 1000;
  };
  EXPECT_EQ(wait_ms(0), 3000);
  EXPECT_EQ(wait_ms(1), 6000);
  EXPECT_EQ(wait_ms(2), 12'000);
  EXPECT_EQ(wait_ms(5), 96'000);
  EXPECT_EQ(wait_ms(6), 100'000);
}

TEST(RestartDecisionTest, WaitNeverExceedsTheLongestOne) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  v1::RestartSpec& rules = *entry.job.mutable_spec()->mutable_restart();
  rules.set_max_restarts(1);
  rules.mutable_backoff()->set_seconds(10);
  rules.mutable_backoff_max()->set_seconds(4);
  EXPECT_EQ(*DecideRestart(entry, verdict, 0, 1000).not_before_ms, 5000);
  entry.restarts_without_progress = 100000;
  rules.mutable_backoff()->set_seconds(1);
  EXPECT_EQ(*DecideRestart(entry, verdict, 0, 1000).not_before_ms, 5000);
}

}  // namespace
}  // namespace trainyard::controller
