#include "controller/store/leader/leader_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "controller/store/leader/leader_rule.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum LeaderAction;

TEST(LeaderRuleTest, ACandidateWithTheLockTakesOver) {
  EXPECT_EQ(NextStepOf({.unrenewed_ms = 0, .has_lock = true}), CandidateStep::kTakeOver);
  EXPECT_EQ(NextStepOf({.unrenewed_ms = 2'499, .has_lock = false}), CandidateStep::kWait);
  EXPECT_EQ(NextStepOf({.unrenewed_ms = 2'500, .has_lock = false}),
            CandidateStep::kEndSessionAndTakeOver);
  EXPECT_EQ(NextStepOf({.unrenewed_ms = -3'600'000, .has_lock = false}), CandidateStep::kWait)
      << "the clock of the database was set back";
}

TEST(LeaderRuleTest, ALeaderStopsAnsweringBeforeACandidateMayTakeOver) {
  EXPECT_FALSE(MayBeReplaced(kRenewEveryMs * 3));
  EXPECT_TRUE(MayBeReplaced(kTakeOverAfterMs - kRenewEveryMs));
}

TEST(LeaderRuleTest, OthersYieldToAReportingSuccessorForALimitedTime) {
  const SuccessorView other{.is_named = true, .is_this = false, .named_ms = 0, .reported_ms = 0};
  EXPECT_EQ(NextStepOf({.has_lock = true, .successor = other}), CandidateStep::kYield);
  EXPECT_EQ(NextStepOf({.unrenewed_ms = 2'500, .successor = other}), CandidateStep::kYield);
  SuccessorView dead = other;
  dead.reported_ms = kReadyWithinMs;
  EXPECT_EQ(NextStepOf({.has_lock = true, .successor = dead}), CandidateStep::kTakeOver);
  SuccessorView late = other;
  late.named_ms = kSuccessorWaitMs;
  EXPECT_EQ(NextStepOf({.has_lock = true, .successor = late}), CandidateStep::kTakeOver);
  EXPECT_FALSE(IsSuccessor(other));
}

TEST(LeaderRuleTest, TheSuccessorTakesOverAsSoonAsItHasTheLock) {
  const SuccessorView named{.is_named = true, .is_this = true, .named_ms = 0, .reported_ms = 0};
  EXPECT_TRUE(IsSuccessor(named));
  EXPECT_EQ(NextStepOf({.has_lock = false, .successor = named}), CandidateStep::kWait);
  EXPECT_EQ(NextStepOf({.has_lock = true, .successor = named}), CandidateStep::kTakeOver);
  SuccessorView late = named;
  late.named_ms = kSuccessorWaitMs;
  EXPECT_FALSE(IsSuccessor(late)) << "it looks at the row at the usual interval again";
}

TEST(LeaderRuleTest, OnlyTheTermInTheRowMayWrite) {
  EXPECT_TRUE(MayWrite(3, 3));
  EXPECT_FALSE(MayWrite(3, 4));
  EXPECT_FALSE(MayWrite(4, 3));
  EXPECT_FALSE(MayWrite(0, 0)) << "no term has begun, or the row does not exist";
  EXPECT_EQ(NextTerm(3), 4);
}

// A controller whose answers the test gives.
class LeaderKernelTest : public testing::Test {
 protected:
  // Runs one step. Each answer belongs to the next action. Returns the actions.
  std::vector<LeaderAction> Step(std::vector<LeaderAnswer> answers) {
    std::vector<LeaderAction> actions;
    std::optional<LeaderAction> action = kernel_.Begin(now_);
    for (LeaderAnswer& answer : answers) {
      if (!action.has_value()) {
        ADD_FAILURE() << "the step ended after " << actions.size() << " actions";
        return actions;
      }
      actions.push_back(*action);
      action = kernel_.Answered(std::move(answer), now_);
    }
    EXPECT_FALSE(action.has_value()) << "the step has not ended";
    return actions;
  }

  static LeaderAnswer Locked(bool locked = true) { return {.locked = locked}; }
  static LeaderAnswer Row(int64_t unrenewed_ms) {
    return {.row = {.term = 4, .holder = "other", .session = 9, .unrenewed_ms = unrenewed_ms}};
  }
  static LeaderAnswer Confirmed(LeaderAnswer answer) {
    answer.row.confirmed = true;
    return answer;
  }
  static LeaderAnswer Unavailable(bool session_ended) {
    return {.status = absl::UnavailableError("late"), .session_ended = session_ended};
  }
  // Sees the leader and reports.
  void Watch() { Step({Locked(false), Row(100), {}}); }
  void Lead() {
    Watch();
    Step({Locked(), Row(0), {.term = 5}});
  }

  ClockReading now_{.wall_ms = 1'000'000, .steady_ms = 50'000};
  LeaderKernel kernel_{"self"};
};

TEST_F(LeaderKernelTest, ACandidateWatchesALeader) {
  kernel_.SessionOpened();
  EXPECT_THAT(Step({Locked(false), Row(100), {}}), ElementsAre(kTryLock, kLook, kReport));
  EXPECT_TRUE(kernel_.result().ok());
  EXPECT_EQ(kernel_.term(), 0);
  EXPECT_EQ(kernel_.leader(), "other");
  EXPECT_EQ(kernel_.leader_term(), 4);
  EXPECT_EQ(kernel_.interval_ms(), kCandidateEveryMs);
  EXPECT_FALSE(kernel_.MayAnswer(now_));
}

TEST_F(LeaderKernelTest, AStandbyReportsTwiceASecond) {
  Watch();
  now_.steady_ms += kReportEveryMs - 1;
  EXPECT_THAT(Step({Locked(false), Row(100)}), ElementsAre(kTryLock, kLook));
  ++now_.steady_ms;
  EXPECT_THAT(Step({Locked(false), Row(100), {}}), ElementsAre(kTryLock, kLook, kReport));
  LeaderKernel command("command", LeaderKind::kCommand);
  command.Begin(now_);
  command.Answered(Locked(false), now_);
  EXPECT_FALSE(command.Answered(Row(100), now_).has_value()) << "a command is no standby";
}

// The leader may have found lost events and exited because of them.
TEST_F(LeaderKernelTest, ALeaderThatHasNotConfirmedItsLogIsNotContinued) {
  Watch();
  Step({Locked(), Row(100), {.term = 5}});
  EXPECT_EQ(kernel_.term(), 5);
  EXPECT_FALSE(kernel_.ContinuesLog());
}

TEST_F(LeaderKernelTest, AConfirmedLogIsContinuedOnlyByAStandbyThatSawItsLeader) {
  Step({Locked(), Confirmed(Row(kTakeOverAfterMs)), {}});
  now_.steady_ms += kTakeOverAfterMs;
  Step({Confirmed(Row(kTakeOverAfterMs)), {.term = 5}});
  EXPECT_EQ(kernel_.term(), 5);
  EXPECT_FALSE(kernel_.ContinuesLog());
}

TEST_F(LeaderKernelTest, TheFreeLockIsEnoughToBeginATerm) {
  Watch();
  EXPECT_THAT(Step({Locked(), Confirmed(Row(100)), {.term = 5}}),
              ElementsAre(kTryLock, kLook, kBeginTerm));
  EXPECT_EQ(kernel_.seen_term(), 4);
  EXPECT_EQ(kernel_.term(), 5);
  EXPECT_EQ(kernel_.leader(), "self");
  EXPECT_EQ(kernel_.interval_ms(), kRenewEveryMs);
  EXPECT_TRUE(kernel_.ContinuesLog());
  EXPECT_TRUE(kernel_.MayAnswer(now_));
}

// The server may have been restarted, and the leader may be cut off from it.
TEST_F(LeaderKernelTest, ACandidateWaitsUntilAnUnseenLeaderCannotAnswer) {
  Step({Locked(), Row(100), {}});
  EXPECT_EQ(kernel_.term(), 0);
  EXPECT_EQ(Step({Row(kTakeOverAfterMs - 1)}), std::vector{kLook});
  Step({Row(kTakeOverAfterMs), {.term = 5}});
  EXPECT_EQ(kernel_.term(), 5);
  EXPECT_FALSE(kernel_.ContinuesLog());
}

TEST_F(LeaderKernelTest, ASlowClockOfTheDatabaseDoesNotDelayTheTakeOver) {
  Step({Locked(), Row(-3'600'000), {}});
  now_.steady_ms += kTakeOverAfterMs;
  Step({Row(-3'600'000), {.term = 5}});
  EXPECT_EQ(kernel_.term(), 5);
}

TEST_F(LeaderKernelTest, AProcessWithTheAddressOfTheLeaderReplacesItAtOnce) {
  LeaderAnswer own = Row(100);
  own.row.holder = "self";
  Step({Locked(), own, {.term = 5}});
  EXPECT_EQ(kernel_.term(), 5);
  EXPECT_FALSE(kernel_.ContinuesLog());
}

TEST_F(LeaderKernelTest, OtherStandbysLeaveTheLockToTheSuccessor) {
  Watch();
  LeaderAnswer successor = Row(100);
  successor.row.successor = "third";
  EXPECT_THAT(Step({Locked(), successor, {}}), ElementsAre(kTryLock, kLook, kUnlock));
  EXPECT_EQ(Step({successor}), std::vector{kLook}) << "it does not try to lock";
  successor.row.named_ms = kSuccessorWaitMs;
  Step({successor});
  EXPECT_THAT(Step({Locked(), successor, {.term = 5}}), ElementsAre(kTryLock, kLook, kBeginTerm));
}

TEST_F(LeaderKernelTest, TheSuccessorLooksMoreOften) {
  Watch();
  LeaderAnswer successor = Row(100);
  successor.row.successor = "self";
  Step({Locked(false), successor});
  EXPECT_EQ(kernel_.interval_ms(), kSuccessorEveryMs);
  Step({Locked(), successor, {.term = 5}});
  EXPECT_EQ(kernel_.term(), 5);
}

TEST_F(LeaderKernelTest, AFasterCandidateLeads) {
  Watch();
  Step({Locked(), Row(0), {.term = 0}});
  EXPECT_EQ(kernel_.term(), 0);
  EXPECT_THAT(Step({Row(0), {.term = 0}}), ElementsAre(kLook, kBeginTerm))
      << "it still has the lock";
}

TEST_F(LeaderKernelTest, AStalledLeaderIsEndedFirst) {
  EXPECT_THAT(
      Step({Locked(false), Row(kTakeOverAfterMs), {}, Locked(false), Locked(), {.term = 5}}),
      ElementsAre(kTryLock, kLook, kEndLockHolder, kPollLock, kPollLock, kBeginTerm));
  EXPECT_EQ(kernel_.seen_session(), 9);
  EXPECT_EQ(kernel_.term(), 5);
}

TEST_F(LeaderKernelTest, TheWaitForTheLockHasALimit) {
  std::vector<LeaderAnswer> answers = {Locked(false), Row(kTakeOverAfterMs), {}};
  for (int i = 0; i < kLockPolls; ++i) answers.push_back(Locked(false));
  Step(std::move(answers));
  EXPECT_TRUE(kernel_.result().ok());
  EXPECT_EQ(kernel_.term(), 0);
}

TEST_F(LeaderKernelTest, AnOpenTransactionIsEnded) {
  Watch();
  EXPECT_THAT(Step({Locked(), Row(0), Unavailable(false), {}, {.term = 5}}),
              ElementsAre(kTryLock, kLook, kBeginTerm, kEndWriters, kBeginTerm));
  EXPECT_EQ(kernel_.term(), 5);
}

TEST_F(LeaderKernelTest, ATakeOverEndsAfterAFewAttempts) {
  Watch();
  std::vector<LeaderAnswer> answers = {Locked(), Row(0), Unavailable(false)};
  for (int i = 0; i < 4; ++i) {
    answers.push_back({});
    answers.push_back(Unavailable(false));
  }
  Step(std::move(answers));
  EXPECT_TRUE(absl::IsUnavailable(kernel_.result()));
  EXPECT_EQ(kernel_.term(), 0);
}

TEST_F(LeaderKernelTest, ANewSessionDoesNotHaveTheLock) {
  Watch();
  Step({Locked(), Row(0), Unavailable(true)});
  EXPECT_TRUE(absl::IsUnavailable(kernel_.result()));
  kernel_.SessionOpened();
  EXPECT_THAT(Step({Locked(), Row(kTakeOverAfterMs), {.term = 5}}),
              ElementsAre(kTryLock, kLook, kBeginTerm));
  EXPECT_FALSE(kernel_.ContinuesLog()) << "it has not watched the leader in this session";
}

TEST_F(LeaderKernelTest, ALeaderAnswersUntilItsRenewalIsTooOld) {
  Lead();
  now_.steady_ms += kTakeOverAfterMs - kRenewEveryMs;
  EXPECT_FALSE(kernel_.MayAnswer(now_));
  EXPECT_THAT(Step({{}}), ElementsAre(kRenew));
  EXPECT_TRUE(kernel_.MayAnswer(now_));
  now_.wall_ms -= 3'600'000;
  EXPECT_TRUE(kernel_.MayAnswer(now_)) << "the wall clock does not matter";
  now_.steady_ms += kTakeOverAfterMs - kRenewEveryMs;
  now_.wall_ms -= kTakeOverAfterMs;
  EXPECT_FALSE(kernel_.MayAnswer(now_));
}

TEST_F(LeaderKernelTest, ALateRenewalCountsFromTheTimeAtWhichItWasSent) {
  Lead();
  kernel_.Begin(now_);
  now_.steady_ms += kTakeOverAfterMs;
  kernel_.Answered({}, now_);
  EXPECT_FALSE(kernel_.MayAnswer(now_));
}

TEST_F(LeaderKernelTest, ALeaderWithoutItsSessionExits) {
  Lead();
  Step({Unavailable(false)});
  EXPECT_TRUE(absl::IsUnavailable(kernel_.result())) << "it tries again";
  Step({Unavailable(true)});
  EXPECT_TRUE(absl::IsAborted(kernel_.result()));
  EXPECT_THAT(std::string(kernel_.result().message()), HasSubstr("term 5"));
}

TEST_F(LeaderKernelTest, ALeaderWithoutItsRowExits) {
  Lead();
  Step({{.status = absl::AbortedError("term 6 has begun")}});
  EXPECT_TRUE(absl::IsAborted(kernel_.result()));
}

}  // namespace
}  // namespace trainyard::controller
