// Requests to the core from users, workers and trainers. A user's request contains its principal.
// The field `user` of its message is only a claim and is not read.
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
#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"
#include "trainyard/v1/exec.pb.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/node_service.pb.h"
#include "trainyard/v1/queue_service.pb.h"
#include "trainyard/v1/telemetry.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

struct JobEntry;

// A user's request to stop or kill a job. `job` is a number, a name or "@last".
struct StopJob {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::StopJobRequest request;
  Principal principal;
};

// A user's request to pause a job or, if it has not started, to hold it.
struct PauseJob {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::PauseJobRequest request;
  Principal principal;
};
// A user's request to return a paused or held job to the queue.
struct ResumeJob {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::ResumeJobRequest request;
  Principal principal;
};

// A user's request to extend the time limit of a job.
struct ExtendJob {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::ExtendJobRequest request;
  Principal principal;
};

// A user's request to add a note to a step of a job. `request.step` is set.
struct WriteNote {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::WriteNoteRequest request;
  Principal principal;
};
// A user's request to delete a note.
struct DeleteNote {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::DeleteNoteRequest request;
  Principal principal;
};

// A request to delete an ended job, from a user or from the retention rules. `request.confirmed` is
// not read, because a dry run sends no request to the core.
struct DeleteJob {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::DeleteJobRequest request;
  Principal principal;  // For the retention rules, the controller.
  // The job's checkpoint directories to delete together with the job (deletion.h).
  std::vector<std::string> checkpoints;
  // The job if it is archived, otherwise nullptr. The core cannot read the archive.
  std::shared_ptr<const JobEntry> archived = nullptr;
};

// A user's request to create a queue or to change its settings.
struct SetQueue {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::SetQueueRequest request;
  Principal principal;
};

// A user's request to delete a queue.
struct DeleteQueue {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::DeleteQueueRequest request;
  Principal principal;
};

// A user's request to replace the topology of the cluster.
struct SetTopology {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::SetTopologyRequest request;
  Principal principal;
};

// A user's request to reserve nodes for a time.
struct CreateReservation {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::CreateReservationRequest request;
  Principal principal;
};

// A user's request to delete a reservation of nodes.
struct DeleteReservation {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::DeleteReservationRequest request;
  Principal principal;
};

// A user's request to change the queue or the priority of a job.
struct MoveInQueue {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::MoveJobRequest request;
  Principal principal;
};

// A user's request to accept no new ranks on a node (cordon), or to accept them again (uncordon).
struct CordonNode {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::CordonNodeRequest request;
  Principal principal;
};

// A user's request to end the quarantine of a node.
struct ReleaseNode {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::ReleaseNodeRequest request;
  Principal principal;
};

// A user's request to remove a lost node.
struct RemoveNode {
  static constexpr RequestSource kSource = RequestSource::kUser;
  v1::RemoveNodeRequest request;
  Principal principal;
};

// A worker attached. The service that received the Hello has already verified its signature. If a
// worker of an older release sent a secret, the service has replaced the secret with its hash and
// has set node_key to the secret's public key.
struct AttachWorker {
  static constexpr RequestSource kSource = RequestSource::kWorker;
  v1::Hello hello;
  // True if the event log does not contain hello.log_mark. The worker is refused until this loss of
  // events is recorded.
  bool events_lost = false;
};

// The event log does not contain this mark, so events are lost (lost_history.h).
struct ReportLostEvents {
  static constexpr RequestSource kSource = RequestSource::kWorker;
  v1::LogMark mark;
  std::string seen_by;         // As in v1::EventsLost.
  uint64_t last_sequence = 0;  // The last event in the log.
};

// A worker reports a durable fact.
struct ReceiveFact {
  static constexpr RequestSource kSource = RequestSource::kWorker;
  std::string node_id;
  v1::Fact fact;
  // The milliseconds by which the node's clock is ahead (node_clock.h). nullopt if unknown.
  std::optional<int64_t> clock_ahead_ms = std::nullopt;
  // Only for an exit: the time of the newest report in which the rank runs. 0 if there is none.
  Timestamp ran_ms = 0;
};

// A trainer published or removed a checkpoint, raised an alert, or reported a spiking loss.
struct ReceiveTelemetry {
  static constexpr RequestSource kSource = RequestSource::kWorker;
  int64_t job_id = 0;
  int64_t attempt = 0;
  int rank = 0;
  v1::TelemetryRecord record;
  // The node whose worker sent the record. The loss guard acts only if the record's rank was placed
  // on this node.
  std::string node_id = {};
  // For a metrics record: the loss guard's finding about its loss.
  std::optional<LossFinding> loss = std::nullopt;
};

// Telemetry records of a job were not added to the event log, because the job had used up its
// budget of events (controller/kernel/durable_records.h).
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

// A user's request to run a command beside a rank.
struct OpenExecSession {
  static constexpr RequestSource kSource = RequestSource::kUser;
  AttemptKey attempt;
  int place = 0;
  v1::ExecCommand command;
  Principal principal;
};

// A user's request to hand the leadership over. The leader has already named its successor.
struct RecordHandOver {
  static constexpr RequestSource kSource = RequestSource::kUser;
  std::string from;  // Address of the leader.
  std::string to;    // Address of the standby.
  Principal principal;
};

using Request = std::variant<JobSubmission, StopJob, PauseJob, ResumeJob, ExtendJob, WriteNote,
                             DeleteNote, DeleteJob, SetQueue, DeleteQueue, MoveInQueue, CordonNode,
                             ReleaseNode, RemoveNode, AttachWorker, ReceiveFact, ReceiveTelemetry,
                             ReportLeftOut, ChooseLayout, ReportLostEvents, SetTopology,
                             CreateReservation, DeleteReservation, OpenExecSession, RecordHandOver>;

// Every request type defines kSource; a type without it does not compile.
inline RequestSource SourceOf(const Request& request) {
  return std::visit([](const auto& one) { return std::decay_t<decltype(one)>::kSource; }, request);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_REQUESTS_REQUESTS_H_
