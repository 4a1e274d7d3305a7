// A controller without threads, and the workers that send messages to it.
#ifndef TRAINYARD_TESTS_CONTROLLER_KERNEL_WORKER_KERNEL_FIXTURE_H_
#define TRAINYARD_TESTS_CONTROLLER_KERNEL_WORKER_KERNEL_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/core/archive.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/support/core_options.h"
#include "controller/kernel/tick_kernel.h"
#include "controller/kernel/worker_kernel.h"
#include "controller/store/events/log_terms.h"
#include "tests/controller/core/test_cluster.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

inline constexpr uint64_t kTerm = 5;

inline v1::Hello HelloOf(const std::string& node_id) {
  v1::Hello hello;
  hello.set_node_id(node_id);
  hello.set_node_name(node_id);
  hello.set_incarnation("1");
  hello.set_address("127.0.0.1");
  v1::Slot& slot = *hello.mutable_inventory()->add_slots();
  slot.set_kind(v1::DEVICE_KIND_CPU);
  return hello;
}

// The controller has no threads, so the test commits the events itself.
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

  // Attaches a worker. If `has_job` is true, the worker's disk contains the ended attempt of job 1
  // and 10 bytes of telemetry.
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

  // Attaches a worker as link 1 and places job 1 on it.
  void RunJob() {
    Attach(1);
    Tick();
    v1::SubmitJobRequest request;
    *request.mutable_spec() = TestSpec("job", 1, 1);
    tick_.Submit(Checked(request), [](const auto&, const auto&) {});
    Tick();
  }

  // Moves job 1 from the state to the archive and clears the uses of its slots, as if the job's
  // node had no data of the job left.
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
  // The number of attempts in each call of ReadOffsets.
  std::vector<std::size_t> attempts_read_;
  // Begin offset of each batch that was passed to the store.
  std::vector<int64_t> stored_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_KERNEL_WORKER_KERNEL_FIXTURE_H_
