#include "controller/core/decide/decide.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/core/decide/array_requests.h"
#include "controller/core/decide/decide_worker.h"
#include "controller/core/decide/deletion.h"
#include "controller/core/decide/dependencies.h"
#include "controller/core/decide/exec.h"
#include "controller/core/decide/extension.h"
#include "controller/core/decide/hand_over.h"
#include "controller/core/decide/job_origin.h"
#include "controller/core/decide/left_out.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/decide/node_removal.h"
#include "controller/core/decide/notes.h"
#include "controller/core/decide/pause.h"
#include "controller/core/decide/queues.h"
#include "controller/core/decide/references.h"
#include "controller/core/decide/reservation_requests.h"
#include "controller/core/decide/topology_change.h"
#include "controller/core/health/node_health.h"
#include "controller/core/health/quarantine.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/jobs/array_elements.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/nodes/evidence_list.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/failure_policy.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// Checks a submission that repeats an earlier request id. Returns OK if both submissions ask for
// the same job, and otherwise the error for the sender.
absl::Status CheckRepeated(const ClusterState& state, const v1::JobSubmitted& checked,
                           int64_t job_id) {
  const JobEntry* entry = FindEntry(state, job_id);
  // If the job is archived, controller/api/jobs/job_handlers.cpp compares the specs after reading
  // the archive.
  if (entry == nullptr || AsksForSameJob(entry->job.spec(), checked.spec())) {
    return absl::OkStatus();
  }
  return OtherSpecOfRequest(checked.request_id(), entry->job);
}

absl::StatusOr<std::vector<v1::Event>> Submit(const ClusterState& state,
                                              const JobSubmission& submission,
                                              const CoreOptions& options, Timestamp now) {
  const v1::JobSubmitted& checked = submission.submitted();
  if (const auto first = FindJobByRequestId(state, checked.request_id())) {
    TRAINYARD_RETURN_IF_ERROR(CheckRepeated(state, checked, *first));
    return std::vector<v1::Event>();
  }
  TRAINYARD_RETURN_IF_ERROR(Admit(state, checked.spec()));
  TRAINYARD_RETURN_IF_ERROR(CheckElementNames(state, checked.spec()));
  TRAINYARD_RETURN_IF_ERROR(CheckClonedFrom(state, checked.cloned_from()));
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto prerequisites,
      FindPrerequisites(state, checked.spec(), submission.archived(), options, now));
  std::vector<v1::Event> events;
  v1::Event& event = events.emplace_back(EventBy(submission.principal(), now));
  v1::JobSubmitted& submitted = *event.mutable_job_submitted();
  submitted = checked;
  submitted.set_job_id(state.next_job_id);
  submitted.mutable_after()->Assign(prerequisites.begin(), prerequisites.end());
  const std::string& start = checked.spec().checkpoint().resume_from();
  if (auto origin = OriginOfCheckpoint(state, start, options.checkpoint_root)) {
    *submitted.mutable_resumed_from() = *std::move(origin);
  }
  // Each element of an array gets a directory of its own.
  if (IsCheckpointDirectoryUnset(submitted.spec()) && !IsArray(submitted.spec())) {
    submitted.mutable_spec()->mutable_checkpoint()->set_dir(absl::StrCat(
        options.checkpoint_root, "/", state.next_job_id, "-", submitted.spec().name()));
    // Another job's spec may already name this checkpoint directory.
    TRAINYARD_RETURN_IF_ERROR(CheckDirectoryIsFree(state, submitted.spec()));
  }
  return events;
}

v1::Event EndAtOnce(const StopJob& stop, int64_t job_id, Timestamp now) {
  v1::Event event = EventBy(stop.principal, now);
  v1::JobEnded& ended = *event.mutable_job_ended();
  ended.set_job_id(job_id);
  ended.set_state(v1::JOB_STATE_STOPPED);
  *ended.mutable_verdict() = StoppedVerdict(stop.request.kill(), now);
  return event;
}

absl::StatusOr<std::vector<v1::Event>> StopOne(const ClusterState& state, const StopJob& stop,
                                               const std::string& reference, Timestamp now) {
  const v1::StopJobRequest& request = stop.request;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, reference));
  const JobEntry& entry = state.jobs.at(job_id);
  if (HasEnded(entry.job.state())) return EndedAlready(entry.job);
  if (!LiveElements(state, job_id).empty()) return DecideArrayStop(state, stop, entry, now);
  if (LiveAttempt(entry) == nullptr) {
    return std::vector<v1::Event>{EndAtOnce(stop, job_id, now)};
  }
  const bool repeated = entry.stop_requested && (entry.kill_requested || !request.kill());
  const bool finished = HasFinished(entry);
  if (repeated || finished) return std::vector<v1::Event>();
  v1::Event event = EventBy(stop.principal, now);
  event.mutable_job_stop_requested()->set_job_id(job_id);
  event.mutable_job_stop_requested()->set_kill(request.kill());
  return std::vector<v1::Event>{std::move(event)};
}

absl::StatusOr<std::vector<v1::Event>> Stop(const ClusterState& state, const StopJob& stop,
                                            Timestamp now) {
  return DecideWithElements(state, stop.request.job(),
                            [&](const std::string& job) { return StopOne(state, stop, job, now); });
}

absl::Status CheckDrain(const v1::CordonNodeRequest& request) {
  if (!request.cordoned()) {
    return absl::InvalidArgumentError(
        "drain_after_ms was set for a node to uncordon; set `cordoned`, or remove drain_after_ms");
  }
  const int64_t after_ms = request.drain_after_ms();
  if (0 <= after_ms && after_ms <= kLongestDrainMs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("drain_after_ms is ", after_ms,
                                                 "; it must be between 0 and ", kLongestDrainMs,
                                                 " (30 days)"));
}

v1::Event Draining(const std::string& node_id, const CordonNode& cordon, Timestamp now) {
  v1::Event event = EventBy(cordon.principal, now);
  v1::NodeDraining& draining = *event.mutable_node_draining();
  draining.set_node_id(node_id);
  draining.set_reason(cordon.request.reason());
  draining.set_deadline_ms(now + cordon.request.drain_after_ms());
  return event;
}

absl::StatusOr<std::vector<v1::Event>> Cordon(const ClusterState& state, const CordonNode& cordon,
                                              Timestamp now) {
  const auto& [request, principal] = cordon;
  TRAINYARD_RETURN_IF_ERROR(CheckLength("reason", request.reason(), kMaxReasonBytes));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string node_id, FindNode(state, request.node()));
  const v1::Node& node = state.nodes.at(node_id).node;
  // A user who uncordons a node has repaired it. Therefore the node's failed starts are forgotten,
  // and the node need not wait for the backoff.
  const bool forgives = !request.cordoned() && node.health().failed_starts() > 0;
  std::vector<v1::Event> events;
  if (forgives) events.push_back(By(principal, WithoutFailedStarts(node, now)));
  if (request.has_drain_after_ms()) {
    TRAINYARD_RETURN_IF_ERROR(CheckDrain(request));
    events.push_back(Draining(node_id, cordon, now));
    return events;
  }
  if (node.cordoned() == request.cordoned()) return events;
  v1::Event event = EventBy(principal, now);
  if (request.cordoned()) {
    event.mutable_node_cordoned()->set_node_id(node_id);
    event.mutable_node_cordoned()->set_reason(request.reason());
  } else {
    event.mutable_node_uncordoned()->set_node_id(node_id);
  }
  events.push_back(std::move(event));
  return events;
}

absl::StatusOr<std::vector<v1::Event>> DecideRelease(const ClusterState& state,
                                                     const ReleaseNode& release, Timestamp now) {
  const auto& [request, principal] = release;
  TRAINYARD_RETURN_IF_ERROR(CheckLength("reason", request.reason(), kMaxReasonBytes));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string node_id, FindNode(state, request.node()));
  const v1::Node& node = state.nodes.at(node_id).node;
  std::vector<v1::Event> events;
  if (auto released = Release(node, request.reason(), now)) {
    events.push_back(By(principal, *std::move(released)));
  }
  if (node.health().failed_starts() > 0) {
    v1::Node left = node;
    EndQuarantine(now, left);
    events.push_back(By(principal, WithoutFailedStarts(left, now)));
  }
  return events;
}

// A layout choice has no effect if its job no longer waits.
std::vector<v1::Event> Choose(const ClusterState& state, const ChooseLayout& choice,
                              Timestamp now) {
  if (!state.pending_auto_jobs.contains(choice.job_id)) return {};
  std::vector<v1::Event> events(1);
  events.front().set_time_ms(now);
  events.front().set_actor("controller");
  events.front().mutable_layout_chosen()->set_job_id(choice.job_id);
  *events.front().mutable_layout_chosen()->mutable_layout() = choice.layout;
  return events;
}

// Decides on the command about a job and, if the job is an array, about its elements.
template <class Command, class Decision>
absl::StatusOr<std::vector<v1::Event>> DecideForJob(const ClusterState& state,
                                                    const Command& command, Decision decide,
                                                    Timestamp now) {
  return DecideWithElements(state, command.request.job(), [&](const std::string& job) {
    auto request = command.request;
    request.set_job(job);
    return decide(state, request, command.principal, now);
  });
}

// Decides on a change of a setting of the cluster: of a queue, the topology, or a reservation of
// nodes. Returns nullopt for any other request.
std::optional<absl::StatusOr<std::vector<v1::Event>>> DecideSetting(const ClusterState& state,
                                                                    const Request& request,
                                                                    Timestamp now) {
  if (const auto* set = std::get_if<SetQueue>(&request)) {
    return DecideSetQueue(state, set->request, set->principal, now);
  }
  if (const auto* deletion = std::get_if<DeleteQueue>(&request)) {
    return DecideDeleteQueue(state, deletion->request, deletion->principal, now);
  }
  if (const auto* set = std::get_if<SetTopology>(&request)) {
    return DecideSetTopology(state, set->request, set->principal, now);
  }
  if (const auto* creation = std::get_if<CreateReservation>(&request)) {
    return DecideCreateReservation(state, creation->request, creation->principal, now);
  }
  if (const auto* deletion = std::get_if<DeleteReservation>(&request)) {
    return DecideDeleteReservation(state, deletion->request, deletion->principal, now);
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> Decide(const ClusterState& state, const Request& request,
                                              const CoreOptions& options, Timestamp now) {
  if (const auto* submit = std::get_if<JobSubmission>(&request)) {
    return Submit(state, *submit, options, now);
  }
  if (const auto* stop = std::get_if<StopJob>(&request)) return Stop(state, *stop, now);
  if (const auto* pause = std::get_if<PauseJob>(&request)) {
    return DecideForJob(state, *pause, DecidePause, now);
  }
  if (const auto* resume = std::get_if<ResumeJob>(&request)) {
    return DecideForJob(state, *resume, DecideResume, now);
  }
  if (const auto* extend = std::get_if<ExtendJob>(&request)) {
    return DecideExtension(state, extend->request, extend->principal, now);
  }
  if (const auto* note = std::get_if<WriteNote>(&request)) {
    return DecideNoteWrite(state, note->request, note->principal, now);
  }
  if (const auto* note = std::get_if<DeleteNote>(&request)) {
    return DecideNoteDeletion(state, note->request, note->principal, now);
  }
  if (const auto* exec = std::get_if<OpenExecSession>(&request)) {
    return DecideExec(state, *exec, now);
  }
  if (const auto* record = std::get_if<RecordHandOver>(&request)) {
    return DecideHandOver(*record, now);
  }
  if (const auto* deletion = std::get_if<DeleteJob>(&request)) {
    return DecideDeletion(state, *deletion, options, now);
  }
  if (const auto* move = std::get_if<MoveInQueue>(&request)) {
    return DecideForJob(state, *move, DecideMoveJob, now);
  }
  if (auto events = DecideSetting(state, request, now)) return *std::move(events);
  if (const auto* cordon = std::get_if<CordonNode>(&request)) {
    return Cordon(state, *cordon, now);
  }
  if (const auto* release = std::get_if<ReleaseNode>(&request)) {
    return DecideRelease(state, *release, now);
  }
  if (const auto* removal = std::get_if<RemoveNode>(&request)) {
    return DecideNodeRemoval(state, removal->request, removal->principal, now);
  }
  if (const auto* report = std::get_if<ReportLostEvents>(&request)) {
    return DecideLostEvents(state, *report, now);
  }
  if (const auto* attach = std::get_if<AttachWorker>(&request)) {
    return DecideAttach(state, *attach, options, now);
  }
  if (const auto* fact = std::get_if<ReceiveFact>(&request)) return DecideFact(state, *fact, now);
  if (const auto* choice = std::get_if<ChooseLayout>(&request)) return Choose(state, *choice, now);
  if (const auto* report = std::get_if<ReportLeftOut>(&request)) {
    return DecideLeftOut(state, *report, now);
  }
  return DecideTelemetry(state, std::get<ReceiveTelemetry>(request), now);
}

}  // namespace trainyard::controller
