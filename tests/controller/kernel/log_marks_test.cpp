// Tests the event-log marks in the messages to and from workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "controller/kernel/worker_kernel.h"
#include "tests/controller/kernel/worker_kernel_fixture.h"

namespace trainyard::controller {
namespace {

using LogMarksTest = WorkerKernelTest;

// Returns the Hello of a worker of node b that has seen event 99 and job 30 of another history of
// the log. The worker has attempt 1 of job 30 on its disk.
v1::WorkerMessage HelloFromLostHistory() {
  v1::WorkerMessage message;
  *message.mutable_hello() = HelloOf("b");
  v1::LogMark& mark = *message.mutable_hello()->mutable_log_mark();
  mark.set_term(kTerm + 1);
  mark.set_sequence(99);
  mark.set_job_id(30);
  v1::AttemptReport& report = *message.mutable_hello()->add_attempts();
  report.set_job_id(30);
  report.set_attempt(1);
  report.add_ranks()->set_running(true);
  return message;
}

TEST_F(LogMarksTest, WelcomeStartAndAcknowledgementCarryTheNewestMark) {
  RunJob();
  std::size_t marks = 0;
  for (const SendMessage& one : sent_) {
    const v1::ControllerMessage& message = one.message;
    const v1::LogMark& mark =
        message.has_welcome() ? message.welcome().log_mark() : message.start_attempt().log_mark();
    if (mark.sequence() == 0) continue;
    ++marks;
    EXPECT_EQ(mark.term(), kTerm);
    EXPECT_EQ(mark.job_id(), message.has_welcome() ? 0 : 1);
    if (message.has_start_attempt()) {
      EXPECT_EQ(mark.sequence(), log_.size());
    }
  }
  EXPECT_EQ(marks, 2u);
  sent_.clear();
  now_ += 6000;
  CarryOut(kernel_->BeforeTick(now_));
  ASSERT_EQ(Sent(v1::ControllerMessage::kFactsAcknowledged), 1) << "also without a fact";
  EXPECT_EQ(sent_.back().message.facts_acknowledged().log_mark().sequence(), log_.size());
}

TEST_F(LogMarksTest, AWorkerThatHasSeenMoreThanTheLogHasMakesItsNumbersJump) {
  RunJob();
  sent_.clear();
  CarryOut(kernel_->Receive(2, HelloFromLostHistory(), nullptr, now_));
  Tick();
  EXPECT_EQ(std::ranges::count_if(log_, &v1::Event::has_events_lost), 1);
  EXPECT_GT(tick_.state().next_job_id, 30);
  EXPECT_EQ(Sent(v1::ControllerMessage::kWelcome), 1);
  Tick();
  EXPECT_EQ(Sent(v1::ControllerMessage::kStopAttempt), 0);
  EXPECT_EQ(Sent(v1::ControllerMessage::kForgetAttempt), 0);
  EXPECT_TRUE(tick_.state().nodes.at("b").node.cordoned());

  CarryOut(kernel_->Closed(2));
  CarryOut(kernel_->Receive(3, HelloFromLostHistory(), nullptr, now_));
  Tick();
  EXPECT_EQ(std::ranges::count_if(log_, &v1::Event::has_events_lost), 1) << "recorded";
}

TEST_F(LogMarksTest, OnAFullDiskAWorkerThatHasSeenMoreIsRefused) {
  RunJob();
  tick_.SetNoSpace(absl::ResourceExhaustedError("disk full"));
  CarryOut(kernel_->Receive(2, HelloFromLostHistory(), nullptr, now_));
  sent_.clear();
  tick_.AnswerWithoutSpace(now_);
  EXPECT_TRUE(sent_.empty()) << "no Welcome, and no command after it";
  // The controller reports the loss only once it has disk space to store the report.
  tick_.SpaceIsBack(now_);
  Tick();
  EXPECT_EQ(std::ranges::count_if(log_, &v1::Event::has_events_lost), 1);
}

TEST_F(LogMarksTest, AnAbsurdMarkIsRefused) {
  v1::WorkerMessage message = HelloFromLostHistory();
  message.mutable_hello()->mutable_log_mark()->set_job_id(std::numeric_limits<int64_t>::max());
  const WorkerActions actions = kernel_->Receive(2, message, nullptr, now_);
  const bool ended = std::ranges::any_of(actions, [](const WorkerAction& action) {
    const auto* end = std::get_if<EndLink>(&action);
    return end != nullptr && absl::IsInvalidArgument(end->status);
  });
  EXPECT_TRUE(ended);
  Tick();
  EXPECT_EQ(tick_.state().next_job_id, 1);
}

}  // namespace
}  // namespace trainyard::controller
