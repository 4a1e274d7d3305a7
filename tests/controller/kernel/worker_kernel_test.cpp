#include "controller/kernel/worker_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/archive.h"
#include "controller/core/decide/left_out.h"
#include "controller/core/state/snapshot.h"
#include "controller/core/support/core_options.h"
#include "controller/kernel/tick_kernel.h"
#include "controller/store/events/log_terms.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kTerm = 5;

v1::Hello HelloOf(const std::string& node_id) {
  v1::Hello hello;
  hello.set_node_id(node_id);
  hello.set_node_name(node_id);
  hello.set_incarnation("1");
  hello.set_address("127.0.0.1");
  v1::Slot& slot = *hello.mutable_inventory()->add_slots();
  slot.set_kind(v1::DEVICE_KIND_CPU);
  return hello;
}

// A controller without threads; the test commits by hand.
class WorkerKernelTest : public testing::Test {
 protected:
  WorkerKernelTest() {
    tick_.Start(now_);
    tick_.Listen([this](const ClusterView& view, const auto& summary) {
      CarryOut(kernel_->AfterCommit(view, summary));
      return true;
    });
  }

  WorkerKernel::Options Options() {
    return {.cluster_id = "test",
            .links =
                [this](LinkId) {
                  return LinkState{waiting_, 0, false};
                },
            .marks = {.covers = [this](const v1::LogMark& mark) { return terms_.Covers(mark); },
                      .newest = [this] { return terms_.Newest(); }}};
  }

  void CarryOut(WorkerActions actions) {
    for (WorkerAction& action : actions) {
      if (auto* send = std::get_if<SendMessage>(&action)) {
        sent_.push_back(std::move(*send));
      } else if (auto* request = std::get_if<SubmitRequest>(&action)) {
        tick_.Submit(request->request,
                     [this, tag = request->tag](const auto& outcome, const auto&) {
                       CarryOut(kernel_->Answered(tag, outcome.status(), now_));
                     });
      } else if (auto* offsets = std::get_if<ReadOffsets>(&action)) {
        attempts_read_.push_back(offsets->attempts.size());
        LoggedAlerts alerts = ReadLoggedAlerts(offsets->attempts, [this](int64_t, int) {
          return absl::StatusOr<std::vector<v1::Event>>(log_);
        });
        ArchivedJobs archived;
        for (const int64_t job_id : offsets->archived_jobs) archived[job_id] = archived_;
        CarryOut(kernel_->OffsetsRead(offsets->link, {}, std::move(alerts), std::move(archived)));
      } else if (auto* telemetry = std::get_if<StoreTelemetry>(&action)) {
        stored_.push_back(telemetry->batch.begin_offset());
      }
    }
  }

  void Tick() {
    for (const LogRecord& event : tick_.Decide(now_)) {
      log_.emplace_back().ParseFromString(event.payload);
    }
    if (!log_.empty()) terms_.Appended(kTerm, log_.size());
    tick_.Committed(now_);
  }

  // With the ended attempt of job 1 and 10 bytes of telemetry on its disk if `has_job`.
  void Attach(LinkId link, bool has_job = false) {
    v1::WorkerMessage message;
    *message.mutable_hello() = HelloOf("a");
    if (has_job) {
      v1::AttemptReport& report = *message.mutable_hello()->add_attempts();
      report.set_job_id(1);
      report.set_attempt(1);
      report.set_cleared(true);
      v1::StreamEnd& end = *report.add_stream_ends();
      end.mutable_stream()->set_job_id(1);
      end.mutable_stream()->set_attempt(1);
      end.mutable_stream()->set_kind(v1::STREAM_KIND_TELEMETRY);
      end.set_end_offset(10);
    }
    CarryOut(kernel_->Receive(link, message, nullptr, now_));
  }

  // Attaches link 1 and places job 1 on it.
  void RunJob() {
    Attach(1);
    Tick();
    v1::SubmitJobRequest request;
    *request.mutable_spec() = TestSpec("job", 1, 1);
    tick_.Submit(Checked(request), [](const auto&, const auto&) {});
    Tick();
  }

  // Takes job 1 out of the state, with nothing left of it on its node.
  void ArchiveJob() {
    archived_ = ToArchived(tick_.state().jobs.at(1), tick_.observations(), now_);
    v1::Snapshot snapshot = ToSnapshot(tick_.state(), tick_.last_sequence());
    snapshot.clear_jobs();
    snapshot.clear_job_details();
    for (v1::NodeSnapshot& entry : *snapshot.mutable_nodes()) {
      for (v1::SlotUse& use : *entry.mutable_node()->mutable_slot_uses()) use.Clear();
    }
    tick_.Restore(FromSnapshot(snapshot), tick_.last_sequence());
  }

  void SendTelemetry(LinkId link, int64_t begin, const v1::TelemetryRecord& record,
                     v1::StreamKind kind = v1::STREAM_KIND_TELEMETRY) {
    v1::WorkerMessage message;
    v1::TelemetryBatch& batch = *message.mutable_telemetry();
    batch.mutable_stream()->set_job_id(1);
    batch.mutable_stream()->set_attempt(1);
    batch.mutable_stream()->set_kind(kind);
    batch.set_begin_offset(begin);
    batch.set_end_offset(begin + 10);
    *batch.add_records() = record;
    CarryOut(kernel_->Receive(link, std::move(message), nullptr, now_));
  }

  static v1::TelemetryRecord Checkpoint(int64_t step = 5) {
    v1::TelemetryRecord record;
    record.mutable_checkpoint()->set_step(step);
    record.mutable_checkpoint()->set_path("/c/" + std::to_string(step));
    return record;
  }
  static v1::TelemetryRecord Loss(int64_t step, double loss) {
    v1::TelemetryRecord record;
    record.mutable_metrics()->set_step(step);
    (*record.mutable_metrics()->mutable_values())["loss"] = loss;
    return record;
  }
  static v1::TelemetryRecord Alert() {
    v1::TelemetryRecord record;
    record.mutable_alert()->set_step(5);
    record.mutable_alert()->set_code("nan_loss");
    return record;
  }

  int64_t Alerts() const {
    return std::ranges::count_if(log_, [](const auto& event) { return event.has_alert_raised(); });
  }
  int64_t Sent(v1::ControllerMessage::KindCase kind) const {
    return std::ranges::count_if(
        sent_, [&](const SendMessage& one) { return one.message.kind_case() == kind; });
  }

  Timestamp now_ = 1'000'000;
  std::size_t waiting_ = 0;
  std::vector<v1::Event> log_;
  std::optional<v1::ArchivedJob> archived_;
  LogTerms terms_;
  TickKernel tick_{CoreOptions{.checkpoint_root = "/c"}};
  WorkerKernel workers_{tick_.state(), tick_.observations(), tick_.options(), Options()};
  WorkerKernel* kernel_ = &workers_;
  std::vector<SendMessage> sent_;
  // Attempts of each ReadOffsets.
  std::vector<std::size_t> attempts_read_;
  // Begin offsets of the batches that went to the store.
  std::vector<int64_t> stored_;
};

// The clock of node a is a minute ahead.
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

// The commit that holds the fact may hold the removal of its node, too.
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

// The exit decides where the next attempt starts.
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

// A crash between the two would lose what the loss guard must decide on.
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

// Several batches may have been received and not stored before the controller ended.
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

// The loop never waits for the log: the shell reads it before the worker may send.
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

// A worker of node b, which has seen event 99 of another line of the log and job 30, with attempt 1
// of job 30 on its disk.
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

TEST_F(WorkerKernelTest, WelcomeStartAndAcknowledgementCarryTheNewestMark) {
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

TEST_F(WorkerKernelTest, AWorkerThatHasSeenMoreThanTheLogHasMakesItsNumbersJump) {
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

TEST_F(WorkerKernelTest, OnAFullDiskAWorkerThatHasSeenMoreIsRefused) {
  RunJob();
  tick_.SetNoSpace(absl::ResourceExhaustedError("disk full"));
  CarryOut(kernel_->Receive(2, HelloFromLostHistory(), nullptr, now_));
  sent_.clear();
  tick_.AnswerWithoutSpace(now_);
  EXPECT_TRUE(sent_.empty()) << "no Welcome, and no command after it";
  // The report of the loss waits for space.
  tick_.SpaceIsBack(now_);
  Tick();
  EXPECT_EQ(std::ranges::count_if(log_, &v1::Event::has_events_lost), 1);
}

TEST_F(WorkerKernelTest, AnAbsurdMarkIsRefused) {
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
