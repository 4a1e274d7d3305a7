// Requests to the core from users, workers and trainers. A request of a user has its principal; the
// field `user` of its message is only a claim and is not read.
#ifndef TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUESTS_H_
#define TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUESTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "controller/core/observations/loss_watch.h"
#include "controller/core/requests/request_source.h"
#include "controller/core/requests/submission.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/node_service.pb.h"
#include "trainyard/v1/telemetry.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

struct JobEntry;

// A user stops or kills a job. `job` is a number, a name or "@last".
struct StopJob {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::StopJobRequest request;
  Principal principal;
};

// A user pauses a job, or holds one that has not started.
struct PauseJob {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::PauseJobRequest request;
  Principal principal;
};
// A user returns a paused or held job to the queue.
struct ResumeJob {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::ResumeJobRequest request;
  Principal principal;
};

// A user or the retention rules delete an ended job. `request.confirmed` is not read: a dry run
// sends no request to the core.
struct DeleteJob {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::DeleteJobRequest request;
  Principal principal;  // The controller, for the retention rules.
  // Directories of the job's checkpoints to delete with it (deletion.h).
  std::vector<std::string> checkpoints;
  // The job, if it is in the archive, which the core cannot read.
  std::shared_ptr<const JobEntry> archived = nullptr;
};

// A user keeps new ranks off a node (cordon), or allows them again (uncordon).
struct CordonNode {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::CordonNodeRequest request;
  Principal principal;
};

// A user ends the quarantine of a node.
struct ReleaseNode {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::ReleaseNodeRequest request;
  Principal principal;
};

// A user removes a lost node.
struct RemoveNode {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::RemoveNodeRequest request;
  Principal principal;
};

// A worker attached. The service that received the Hello has verified its signature. A secret sent
// by an older release has already been replaced: by its hash, and by the public key in node_key.
struct AttachWorker {
  static constexpr RequestSource kSource = RequestSource::kWorker;
  v1::Hello hello;
  // The event log does not have hello.log_mark. The worker is refused until that loss is recorded.
  bool events_lost = false;
};

// The event log does not have this mark, so it has lost events (lost_history.h).
struct ReportLostEvents {
  static constexpr RequestSource kSource = RequestSource::kWorker;
  v1::LogMark mark;
  std::string seen_by;         // As in v1::EventsLost.
  uint64_t last_sequence = 0;  // Last event of the log.
};

// A worker reports a durable fact.
struct ReceiveFact {
  static constexpr RequestSource kSource = RequestSource::kWorker;
  std::string node_id;
  v1::Fact fact;
  // Milliseconds by which the node's clock is ahead (node_clock.h); nullopt if unknown.
  std::optional<int64_t> clock_ahead_ms = std::nullopt;
  // For an exit: time of the newest report that the rank runs; 0 if none.
  Timestamp ran_ms = 0;
};

// A trainer published or removed a checkpoint, raised an alert, or reported a spiking loss.
struct ReceiveTelemetry {
  static constexpr RequestSource kSource = RequestSource::kWorker;
  int64_t job_id = 0;
  int64_t attempt = 0;
  int rank = 0;
  v1::TelemetryRecord record;
  // Node of the worker that sent the record. The loss guard acts only on a record of a rank placed
  // on that node.
  std::string node_id = {};
  // For metrics: the loss guard's objection to their loss.
  std::optional<LossFinding> loss = std::nullopt;
};

// Telemetry records of a job were left out of the event log because the job used up its budget
// (controller/kernel/durable_records.h).
struct ReportLeftOut {
  static constexpr RequestSource kSource = RequestSource::kWorker;
  int64_t job_id = 0;
  int64_t attempt = 0;
  int64_t step = 0;
  int64_t checkpoints = 0;
  int64_t alerts = 0;
};

// The planner chose a layout for a waiting job (layout_choice.h).
struct ChooseLayout {
  static constexpr RequestSource kSource = RequestSource::kController;
  int64_t job_id = 0;
  v1::GrantedLayout layout;
};

using Request = std::variant<JobSubmission, StopJob, PauseJob, ResumeJob, DeleteJob, CordonNode,
                             ReleaseNode, RemoveNode, AttachWorker, ReceiveFact, ReceiveTelemetry,
                             ReportLeftOut, ChooseLayout, ReportLostEvents>;

// Every request type defines kSource; a type without it does not compile.
inline RequestSource SourceOf(const Request& request) {
  return std::visit([](const auto& one) { return std::decay_t<decltype(one)>::kSource; }, request);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUESTS_H_
