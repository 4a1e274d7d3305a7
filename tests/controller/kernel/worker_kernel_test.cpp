#include "controller/kernel/worker_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "controller/core/decide/left_out.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/controller/kernel/worker_kernel_fixture.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The clock of node a is one minute ahead.
TEST_F(WorkerKernelTest, AnExitGetsItsTimeByTheControllersClock) {
  RunJob();
  v1::WorkerMessage heartbeat;
  heartbeat.mutable_heartbeat()->set_time_ms(now_ + 60'000);
  CarryOut(kernel_->Receive(1, std::move(heartbeat), nullptr, now_));
  v1::WorkerMessage fact;
  fact.mutable_fact()->set_sequence(1);
  v1::RankExited& exited = *fact.mutable_fact()->mutable_rank_exited();
  exited.set_job_id(1);
  exited.set_attempt(1);
  exited.set_time_ms(now_ + 60'000 - 5);
  CarryOut(kernel_->Receive(1, std::move(fact), nullptr, now_));
  Tick();
  const auto event = std::ranges::find_if(log_, &v1::Event::has_rank_exited);
  ASSERT_NE(event, log_.end());
  EXPECT_EQ(event->rank_exited().corrected_ms(), now_ - 5);
}

TEST_F(WorkerKernelTest, EveryEventAndEveryMessageHasTheTermOfTheLeader) {
  TickKernel tick({.checkpoint_root = "/c", .leader_term = 7});
  WorkerKernel kernel(tick.state(), tick.observations(), tick.options(), Options());
  v1::WorkerMessage hello;
  *hello.mutable_hello() = HelloOf("a");
  WorkerActions actions = kernel.Receive(1, hello, nullptr, now_);
  ASSERT_TRUE(std::holds_alternative<SubmitRequest>(actions[0]));
  tick.Submit(std::get<SubmitRequest>(actions[0]).request, [](const auto&, const auto&) {});
  for (const LogRecord& record : tick.Decide(now_)) {
    v1::Event event;
    ASSERT_TRUE(event.ParseFromString(record.payload));
    EXPECT_EQ(event.leader_term(), 7) << event.ShortDebugString();
  }
  tick.Committed(now_);
  kernel.Answered({RequestTag::Kind::kAttach, 1, 0}, absl::OkStatus(), now_);
  actions = kernel.OffsetsRead(1, {}, {}, {});
  ASSERT_TRUE(std::holds_alternative<SendMessage>(actions[0]));
  EXPECT_TRUE(std::get<SendMessage>(actions[0]).message.has_welcome());
  EXPECT_EQ(std::get<SendMessage>(actions[0]).message.leader_term(), 7);
}

TEST_F(WorkerKernelTest, TheFirstTermIsNotWritten) {
  RunJob();
  ASSERT_FALSE(log_.empty());
  for (const v1::Event& event : log_) EXPECT_EQ(event.leader_term(), 0);
  for (const SendMessage& sent : sent_) EXPECT_EQ(sent.message.leader_term(), 0);
}

TEST_F(WorkerKernelTest, AWorkerThatHasSeenAHigherTermIsRefused) {
  v1::WorkerMessage message;
  *message.mutable_hello() = HelloOf("a");
  message.mutable_hello()->set_leader_term(2);
  const WorkerActions actions = kernel_->Receive(1, message, nullptr, now_);
  ASSERT_EQ(actions.size(), 3u);
  ASSERT_TRUE(std::holds_alternative<EndLink>(actions[1]));
  EXPECT_THAT(std::string(std::get<EndLink>(actions[1]).status.message()),
              testing::HasSubstr("has seen a leader of term 2, but this controller leads term 1"));
  ASSERT_TRUE(std::holds_alternative<HigherTermSeen>(actions[2]));
  EXPECT_EQ(std::get<HigherTermSeen>(actions[2]).term, 2);
}

TEST_F(WorkerKernelTest, AFaultyWorkerCannotUseUpTheTerms) {
  v1::WorkerMessage message;
  *message.mutable_hello() = HelloOf("a");
  message.mutable_hello()->set_leader_term(std::numeric_limits<int64_t>::max());
  const WorkerActions actions = kernel_->Receive(1, message, nullptr, now_);
  ASSERT_EQ(actions.size(), 2u);
  ASSERT_TRUE(std::holds_alternative<EndLink>(actions[1]));
  EXPECT_THAT(std::string(std::get<EndLink>(actions[1]).status.message()),
              testing::HasSubstr("leader_term in the worker's data directory is damaged"));
}

TEST_F(WorkerKernelTest, AWorkerOfAnotherClusterDoesNotEndTheTerm) {
  v1::WorkerMessage message;
  *message.mutable_hello() = HelloOf("a");
  message.mutable_hello()->set_cluster_id("another cluster");
  message.mutable_hello()->set_leader_term(50);
  const WorkerActions actions = kernel_->Receive(1, message, nullptr, now_);
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<EndLink>(actions[1]));
}

// One commit may contain both a fact of a node and the removal of that node.
TEST_F(WorkerKernelTest, AFactOfANodeThatWasRemovedEndsItsLink) {
  Attach(1);
  Tick();
  v1::Snapshot snapshot = ToSnapshot(tick_.state(), tick_.last_sequence());
  snapshot.clear_nodes();
  tick_.Restore(FromSnapshot(snapshot), tick_.last_sequence());
  const WorkerActions actions =
      kernel_->Answered({RequestTag::Kind::kFact, 1, 0}, absl::OkStatus(), now_);
  ASSERT_EQ(actions.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<EndLink>(actions[0]));
  EXPECT_EQ(std::get<EndLink>(actions[0]).link, 1);
}

TEST_F(WorkerKernelTest, AStreamWhoseRecordWaitsDelaysNoOtherStream) {
  RunJob();
  SendTelemetry(1, 0, Checkpoint());
  SendTelemetry(1, 10, v1::TelemetryRecord());
  SendTelemetry(1, 100, v1::TelemetryRecord(), v1::STREAM_KIND_PARSED_LOG);
  EXPECT_THAT(stored_, ElementsAre(100));
  Tick();
  EXPECT_THAT(stored_, ElementsAre(100, 0, 10));
}

// The checkpoint must be committed before the exit: the exit determines the checkpoint from which
// the next attempt starts.
TEST_F(WorkerKernelTest, ACheckpointBeyondTheBudgetIsCommittedBeforeTheExitOfItsRank) {
  RunJob();
  for (int64_t step = 1; step <= kJobEventsAtOnce + 2; ++step) {
    SendTelemetry(1, 10 * step, Checkpoint(step));
  }
  v1::WorkerMessage fact;
  fact.mutable_fact()->set_sequence(1);
  fact.mutable_fact()->mutable_rank_exited()->set_job_id(1);
  fact.mutable_fact()->mutable_rank_exited()->set_attempt(1);
  CarryOut(kernel_->Receive(1, std::move(fact), nullptr, now_));
  while (tick_.waiting() > 0) Tick();
  const auto published = [](int64_t step) {
    return [step](const v1::Event& event) {
      return event.checkpoint_published().checkpoint().step() == step;
    };
  };
  EXPECT_EQ(std::ranges::count_if(log_, published(kJobEventsAtOnce + 1)), 0);
  const auto newest = std::ranges::find_if(log_, published(kJobEventsAtOnce + 2));
  ASSERT_NE(newest, log_.end());
  EXPECT_LT(newest, std::ranges::find_if(log_, &v1::Event::has_rank_exited));
}

TEST_F(WorkerKernelTest, RecordsThatWereLeftOutAreReported) {
  RunJob();
  for (int64_t step = 1; step <= kJobEventsAtOnce + 3; ++step) {
    SendTelemetry(1, 10 * step, Checkpoint(step));
  }
  now_ += 5000;
  CarryOut(kernel_->BeforeTick(now_));
  while (tick_.waiting() > 0) Tick();
  ASSERT_EQ(Alerts(), 1);
  const auto alert = std::ranges::find_if(log_, &v1::Event::has_alert_raised);
  EXPECT_EQ(alert->alert_raised().code(), kRecordsLeftOut);
  EXPECT_THAT(alert->alert_raised().message(),
              testing::HasSubstr("2 checkpoint records were not recorded"));
}

TEST_F(WorkerKernelTest, TelemetryWaitsUntilItsCheckpointIsCommitted) {
  RunJob();
  SendTelemetry(1, 0, Checkpoint());
  SendTelemetry(1, 10, v1::TelemetryRecord());
  EXPECT_THAT(stored_, IsEmpty());
  Tick();
  EXPECT_THAT(stored_, ElementsAre(0, 10));
  SendTelemetry(1, 20, v1::TelemetryRecord());
  EXPECT_THAT(stored_, ElementsAre(0, 10, 20));
}

// If the controller stored the telemetry and crashed before it committed the NaN loss, the loss
// guard would never see this loss.
TEST_F(WorkerKernelTest, TelemetryWaitsUntilALossThatIsNoNumberIsCommitted) {
  RunJob();
  SendTelemetry(1, 0, Loss(1, 2));
  EXPECT_THAT(stored_, ElementsAre(0)) << "nothing to decide";
  SendTelemetry(1, 10, Loss(2, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_THAT(stored_, ElementsAre(0));
  Tick();
  EXPECT_EQ(Alerts(), 1);
  EXPECT_THAT(stored_, ElementsAre(0, 10));
  SendTelemetry(1, 10, Loss(2, std::numeric_limits<double>::quiet_NaN()));
  Tick();
  EXPECT_EQ(Alerts(), 1) << "received again";
}

TEST_F(WorkerKernelTest, AnAlertThatComesAgainBeforeItsCommitIsRaisedOnce) {
  RunJob();
  SendTelemetry(1, 0, Alert());
  Attach(2);
  SendTelemetry(2, 0, Alert());
  Tick();
  EXPECT_EQ(Alerts(), 1);
  EXPECT_THAT(stored_, ElementsAre(0, 0));
}

TEST_F(WorkerKernelTest, AnAlertThatComesAgainAfterItsCommitIsKnownFromTheLog) {
  RunJob();
  SendTelemetry(1, 0, Alert());
  Tick();
  SendTelemetry(1, 0, Alert());
  Tick();
  EXPECT_EQ(Alerts(), 1);
}

// The previous controller may have received several batches without storing them.
TEST_F(WorkerKernelTest, AnAlertInTheSecondBatchAfterARestartIsKnownFromTheLog) {
  RunJob();
  SendTelemetry(1, 10, Alert());
  Tick();
  ASSERT_EQ(Alerts(), 1);
  WorkerKernel restarted(tick_.state(), tick_.observations(), tick_.options(), Options());
  kernel_ = &restarted;
  Attach(2, /*has_job=*/true);
  Tick();
  SendTelemetry(2, 0, v1::TelemetryRecord());
  SendTelemetry(2, 10, Alert());
  Tick();
  EXPECT_EQ(Alerts(), 1);
}

// The loop must not wait while the log is read. Therefore the shell reads the log before the worker
// is allowed to send.
TEST_F(WorkerKernelTest, TheLogIsReadOnceForEachAttempt) {
  RunJob();
  EXPECT_THAT(attempts_read_, ElementsAre(0));
  Attach(2, /*has_job=*/true);
  Tick();
  EXPECT_THAT(attempts_read_, ElementsAre(0, 1));
  Attach(3, /*has_job=*/true);
  Tick();
  EXPECT_THAT(attempts_read_, ElementsAre(0, 1, 0));
}

TEST_F(WorkerKernelTest, WhatWasReceivedBeforeALinkEndedIsStored) {
  RunJob();
  SendTelemetry(1, 0, Checkpoint());
  CarryOut(kernel_->Closed(1));
  Tick();
  EXPECT_THAT(stored_, ElementsAre(0));
}

TEST_F(WorkerKernelTest, ACommandIsSentAgainAfterASecondUnlessItStillWaits) {
  RunJob();
  using Kind = v1::ControllerMessage;
  EXPECT_EQ(Sent(Kind::kStartAttempt), 1);
  now_ += 900;
  Tick();
  EXPECT_EQ(Sent(Kind::kStartAttempt), 1);
  now_ += 200;
  Tick();
  EXPECT_EQ(Sent(Kind::kStartAttempt), 2);
  waiting_ = 1;
  now_ += 1100;
  Tick();
  EXPECT_EQ(Sent(Kind::kStartAttempt), 2);
}

TEST_F(WorkerKernelTest, ANewStreamGetsItsCommandsAtOnce) {
  RunJob();
  Attach(2);
  Tick();
  EXPECT_EQ(Sent(v1::ControllerMessage::kStartAttempt), 2);
  EXPECT_EQ(sent_.back().link, 2);
}

TEST_F(WorkerKernelTest, LateTelemetryOfAnArchivedJobIsStoredWithItsAlert) {
  RunJob();
  ArchiveJob();
  Attach(2, /*has_job=*/true);
  Tick();
  SendTelemetry(2, 0, Alert());
  Tick();
  EXPECT_THAT(stored_, ElementsAre(0));
  EXPECT_EQ(Alerts(), 1);
}

TEST_F(WorkerKernelTest, TelemetryOfAnArchivedJobOfAnotherNodeIsNotStored) {
  RunJob();
  ArchiveJob();
  archived_->mutable_job()->mutable_attempts(0)->mutable_ranks(0)->set_node_id("b");
  Attach(2, /*has_job=*/true);
  Tick();
  SendTelemetry(2, 0, v1::TelemetryRecord());
  Tick();
  EXPECT_THAT(stored_, IsEmpty());
}

TEST_F(WorkerKernelTest, AnAttemptOfADeletedJobIsForgottenWithItsOutput) {
  RunJob();
  ArchiveJob();
  Attach(2, /*has_job=*/true);
  Tick();
  EXPECT_EQ(Sent(v1::ControllerMessage::kForgetAttempt), 0);
  v1::Event deleted;
  deleted.mutable_job_deleted()->set_job_id(1);
  CarryOut(kernel_->AfterCommit(tick_.View(now_), {{}, {&deleted, 1}}));
  EXPECT_EQ(Sent(v1::ControllerMessage::kForgetAttempt), 1);
}

}  // namespace
}  // namespace trainyard::controller
