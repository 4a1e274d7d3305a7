#include "controller/loop/leader_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>

#include "tests/controller/fake_seat.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

class LeaderGuardTest : public testing::Test {
 protected:
  LeaderGuardTest() { election_.Set({.term = 4}); }

  std::unique_ptr<LeaderGuard> Guard() {
    return std::make_unique<LeaderGuard>(
        std::make_unique<FakeSeat>(election_),
        [this](const absl::Status& cause) { lost_.set_value(std::string(cause.message())); });
  }
  // Returns the reason for the loss; empty if there was none within 10 s.
  std::string Lost() {
    auto reason = lost_.get_future();
    if (reason.wait_for(std::chrono::seconds(10)) != std::future_status::ready) return "";
    return reason.get();
  }
  void WaitForSteps(int steps) const {
    const int before = election_.Get().steps;
    while (election_.Get().steps < before + steps) std::this_thread::yield();
  }

  FakeElection election_;
  std::promise<std::string> lost_;
};

TEST_F(LeaderGuardTest, TheLeadershipIsRenewed) {
  const auto guard = Guard();
  WaitForSteps(3);
  guard->CheckMayAnswer();
}

TEST_F(LeaderGuardTest, AnotherTermEndsTheLeadership) {
  const auto guard = Guard();
  election_.Set({.term = 4, .status = absl::AbortedError("term 5 has begun")});
  EXPECT_THAT(Lost(), HasSubstr("term 5 has begun"));
}

TEST_F(LeaderGuardTest, AWorkerThatHasSeenAHigherTermEndsTheLeadership) {
  const auto guard = Guard();
  guard->HigherTermSeen(9);
  EXPECT_THAT(Lost(), HasSubstr("the next term is above 9"));
}

TEST_F(LeaderGuardTest, AFailedRenewalIsTriedAgain) {
  const auto guard = Guard();
  election_.Set({.term = 4, .status = absl::UnavailableError("no answer")});
  WaitForSteps(3);
  guard->CheckMayAnswer();
  election_.Set({.term = 4});
  WaitForSteps(2);
}

TEST_F(LeaderGuardTest, RenewalsThatFailForTooLongEndTheLeadership) {
  const auto guard = Guard();
  election_.Set({.term = 4, .status = absl::UnavailableError("no answer"), .may_answer = false});
  EXPECT_THAT(Lost(), HasSubstr("could not be renewed in time, so another controller may lead: "
                                "no answer"));
}

TEST_F(LeaderGuardTest, OneHandOverAtATimeNamesASuccessor) {
  std::promise<void> due;
  LeaderGuard guard(
      std::make_unique<FakeSeat>(election_), [](const absl::Status&) {}, [&] { due.set_value(); });
  ASSERT_TRUE(guard.Begin("10.0.0.2:7070").ok());
  EXPECT_EQ(election_.Get().successor, "10.0.0.2:7070");
  EXPECT_TRUE(absl::IsFailedPrecondition(guard.Begin("10.0.0.3:7070")));
  EXPECT_EQ(election_.Get().successor, "10.0.0.2:7070");
  guard.Cancel();
  EXPECT_EQ(election_.Get().successor, "");
  ASSERT_TRUE(guard.Begin("10.0.0.3:7070").ok());
  guard.Finish();
  EXPECT_EQ(due.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST_F(LeaderGuardTest, ALeaderThatCannotNameASuccessorGoesOnLeading) {
  const auto guard = Guard();
  election_.Set({.term = 4, .status = absl::UnavailableError("no answer")});
  EXPECT_TRUE(absl::IsUnavailable(guard->Begin("10.0.0.2:7070")));
  election_.Set({.term = 4});
  WaitForSteps(2);
  EXPECT_TRUE(guard->Begin("10.0.0.2:7070").ok()) << "a later request succeeds";
}

TEST_F(LeaderGuardTest, AHandOverAfterTheLossOfTheLeadershipEndsIt) {
  std::once_flag once;  // The renewal notices the loss, too.
  LeaderGuard guard(std::make_unique<FakeSeat>(election_), [&](const absl::Status& cause) {
    std::call_once(once, [&] { lost_.set_value(std::string(cause.message())); });
  });
  election_.Set({.term = 4, .status = absl::AbortedError("term 5 has begun")});
  EXPECT_FALSE(guard.Begin("10.0.0.2:7070").ok());
  EXPECT_THAT(Lost(), HasSubstr("term 5 has begun"));
}

// A process that was stopped answers nothing after it continues, even before its guard has run.
TEST(LeaderGuardDeathTest, AnAnswerAfterTheTimeLimitEndsTheProcess) {
  FakeElection election;
  election.Set({.term = 4, .may_answer = false});
  EXPECT_EXIT(
      {
        const LeaderGuard guard(std::make_unique<FakeSeat>(election), ExitWithoutLeadership);
        guard.CheckMayAnswer();
      },
      testing::ExitedWithCode(kExitLeadershipLost), "");
}

}  // namespace
}  // namespace trainyard::controller
