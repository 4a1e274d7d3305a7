#include "controller/kernel/sessions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/archive.h"
#include "controller/core/decide/decide_worker.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/decide/node_identity.h"
#include "controller/core/decide/references.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/observe.h"
#include "controller/core/state/attempts/stream_fence.h"
#include "controller/core/support/core_options.h"
#include "controller/kernel/own_stall.h"
#include "proto/contract/leader_term.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// The maximum number of terms by which a worker may be ahead, so that a faulty worker cannot use up
// all terms.
constexpr int64_t kMostTermsAhead = 1'000'000'000;

constexpr int64_t kHeartbeatSeconds = 1;
constexpr int64_t kSlowConsumerMs = 30'000;
constexpr v1::StreamKind kStreamKinds[] = {v1::STREAM_KIND_TELEMETRY, v1::STREAM_KIND_LOG,
                                           v1::STREAM_KIND_PARSED_LOG};

// Returns the streams of the attempts on the worker's disk.
std::vector<StreamKey> StreamsOf(const v1::Hello& hello) {
  std::vector<StreamKey> streams;
  for (const v1::AttemptReport& attempt : hello.attempts()) {
    for (const v1::RankReport& rank : attempt.ranks()) {
      for (const v1::StreamKind kind : kStreamKinds) {
        streams.push_back({attempt.job_id(), attempt.attempt(), rank.rank(), kind});
      }
    }
    for (const v1::StreamEnd& end : attempt.stream_ends()) {
      streams.push_back(ToStreamKey(end.stream()));
    }
  }
  std::sort(streams.begin(), streams.end());
  streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
  return streams;
}

void SetStream(const StreamKey& key, v1::StreamId& id) {
  id.set_job_id(key.job_id);
  id.set_attempt(key.attempt);
  id.set_rank(key.rank);
  id.set_kind(key.kind);
}

// Returns true if every stream of the cleared attempt is completely stored. If `quarantined_count`
// is true, a quarantined stream counts as stored.
bool StreamsStored(const Session& session, const v1::AttemptReport& report,
                   bool quarantined_count) {
  if (!report.cleared()) return false;
  return std::all_of(report.stream_ends().begin(), report.stream_ends().end(),
                     [&](const v1::StreamEnd& end) {
                       const StreamKey stream = ToStreamKey(end.stream());
                       return StoredOffset(session.stored, stream) >= end.end_offset() ||
                              (quarantined_count && session.quarantined.contains(stream));
                     });
}

}  // namespace

int64_t StoredOffset(const StreamOffsets& offsets, const StreamKey& stream) {
  const auto it = offsets.find(stream);
  return it == offsets.end() ? 0 : it->second;
}

bool AllStored(const Session& session, const v1::AttemptReport& report) {
  return StreamsStored(session, report, /*quarantined_count=*/false);
}

bool AllStorableStored(const Session& session, const v1::AttemptReport& report) {
  return StreamsStored(session, report, /*quarantined_count=*/true);
}

Sessions::Sessions(const ClusterState& state, Observations& observations,
                   const CoreOptions& options, std::string cluster_id, const LogMarks& marks)
    : state_(state),
      observations_(observations),
      options_(options),
      cluster_id_(std::move(cluster_id)),
      marks_(marks) {
  observations_.roots.path = options.checkpoint_root;
}

void Sessions::Attach(LinkId link, v1::Hello hello, Timestamp now, WorkerActions& actions) {
  absl::Status status = CheckOrigin(hello);
  const int64_t term = TermOfField(hello.leader_term());
  const bool is_ahead = status.ok() && term > options_.leader_term;
  if (is_ahead) status = TermError(term);
  if (status.ok()) status = CheckAttach(hello, now);
  if (!status.ok()) {
    actions.emplace_back(Warning(absl::StrCat("refused worker ", hello.node_name(), " (",
                                              hello.node_id(), "): ", status.message())));
    actions.emplace_back(EndLink{link, status});
    if (is_ahead && IsPlausible(term)) actions.emplace_back(HigherTermSeen{term});
    return;
  }
  if (const auto old = links_by_node_.find(hello.node_id()); old != links_by_node_.end()) {
    const LinkId replaced = old->second;
    Erase(sessions_.at(replaced));
    actions.emplace_back(EndLink{
        replaced,
        absl::AbortedError("this stream was replaced by a newer stream of the same worker"), true});
  }
  Session& session = sessions_[link];
  session.link = link;
  session.node_id = hello.node_id();
  session.incarnation = hello.incarnation();
  session.serves_exec = hello.serves_exec();
  session.opened_ms = now - observations_.stepped_ms;
  links_by_node_[session.node_id] = link;
  const bool events_lost = hello.has_log_mark() && !marks_.covers(hello.log_mark());
  if (events_lost) {
    // Submit this before AttachWorker. The state must record the lost events before the controller
    // processes the worker's reports.
    ReportLostEvents report{hello.log_mark(), absl::StrCat("node ", hello.node_name()),
                            marks_.newest().sequence()};
    actions.emplace_back(
        SubmitRequest{std::move(report), {RequestTag::Kind::kLostEvents, link, 0}, nullptr});
  }
  actions.emplace_back(SubmitRequest{
      AttachWorker{hello, events_lost}, {RequestTag::Kind::kAttach, link, 0}, nullptr});
  session.hello = std::move(hello);
}

absl::Status Sessions::CheckOrigin(const v1::Hello& hello) const {
  if (!closed_.ok()) return closed_;
  // Check the identity first, so that a worker with a wrong identity cannot end the stream of the
  // right worker.
  TRAINYARD_RETURN_IF_ERROR(CheckNodeIdentity(state_, hello));
  if (hello.cluster_id().empty() || hello.cluster_id() == cluster_id_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the worker's data directory belongs to cluster ", hello.cluster_id(),
                   ", but this controller is cluster ", cluster_id_,
                   "; start the worker with an empty --data-dir, or start the controller with "
                   "the --data-dir of the worker's cluster"));
}

bool Sessions::IsPlausible(int64_t term) const {
  return term <= options_.leader_term + kMostTermsAhead;
}

absl::Status Sessions::TermError(int64_t term) const {
  const std::string found = absl::StrCat("the worker has seen a leader of term ", term,
                                         ", but this controller leads term ", options_.leader_term);
  if (!IsPlausible(term)) {
    return absl::InvalidArgumentError(
        absl::StrCat(found,
                     ". The file leader_term in the worker's data directory is damaged; "
                     "stop the worker and remove that file"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      found,
      ". Another controller leads now, or the database was replaced by an older copy. On "
      "PostgreSQL, this controller exits, and the next leader has a higher term. With stores in "
      "files, restore the newest copy of the data directory"));
}

absl::Status Sessions::CheckAttach(const v1::Hello& hello, Timestamp now) const {
  TRAINYARD_RETURN_IF_ERROR(CheckLogMark(state_, hello.log_mark()));
  const Session* old = FindNode(hello.node_id());
  if (old == nullptr || old->incarnation == hello.incarnation()) return absl::OkStatus();
  const Timestamp opened_ms = old->opened_ms + observations_.stepped_ms;
  const Timestamp last_heartbeat_ms =
      std::max(opened_ms, LastHeartbeat(observations_, hello.node_id()));
  // The old worker may have been killed without the controller noticing that its stream is broken.
  if (now - last_heartbeat_ms > options_.suspect_after_ms) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("another worker with node id ", hello.node_id(),
                                               " is attached; make sure that only one worker uses "
                                               "this --data-dir, and none uses a copy of it"));
}

void Sessions::Attached(LinkId link, const absl::Status& answer, Timestamp now,
                        WorkerActions& actions) {
  Session* session = Find(link);
  if (session == nullptr) return;
  if (!answer.ok()) {
    Erase(*session);
    actions.emplace_back(EndLink{link, answer});
    return;
  }
  v1::Hello hello = std::exchange(session->hello, {});
  for (v1::AttemptReport& report : *hello.mutable_attempts()) {
    KeepOwnRanks(state_, session->node_id, report);
  }
  ObserveAttached(hello, now, state_, observations_);
  actions.emplace_back(Info(absl::StrCat("worker ", hello.node_name(), " (", hello.node_id(),
                                         ") attached from ", hello.address())));
  ReadOffsets read{link, StreamsOf(hello), {}, {}};
  for (const v1::AttemptReport& report : hello.attempts()) {
    read.attempts.emplace_back(report.job_id(), report.attempt());
    if (IsArchived(state_, report.job_id())) read.archived_jobs.insert(report.job_id());
  }
  actions.emplace_back(std::move(read));
}

void Sessions::Welcome(LinkId link, StreamOffsets offsets, ArchivedJobs archived,
                       WorkerActions& actions) {
  Session* session = Find(link);
  if (session == nullptr) return;
  const auto node = state_.nodes.find(session->node_id);
  if (node == state_.nodes.end()) {
    actions.emplace_back(
        EndLink{link, absl::AbortedError("the node was removed while its worker attached")});
    return;
  }
  SendMessage send{link, {}};
  v1::Welcome& welcome = *send.message.mutable_welcome();
  welcome.set_fact_sequence(node->second.fact_sequence);
  welcome.mutable_heartbeat_interval()->set_seconds(kHeartbeatSeconds);
  welcome.set_cluster_id(cluster_id_);
  welcome.set_checkpoint_root(options_.checkpoint_root);
  for (const auto& [stream, offset] : offsets) {
    if (offset == 0) continue;
    v1::StreamAcknowledged& stored = *welcome.add_streams();
    SetStream(stream, *stored.mutable_stream());
    stored.set_offset(offset);
  }
  session->stored = std::move(offsets);
  for (auto& [job_id, job] : archived) {
    std::optional<JobEntry>& entry = session->archived[job_id];
    if (job.has_value()) entry = FromArchived(*std::move(job));
  }
  session->welcomed = true;
  ObserveWelcomed(session->node_id, observations_);
  actions.emplace_back(std::move(send));
  actions.emplace_back(ScheduleTick{});
}

void Sessions::JobDeleted(int64_t job_id) {
  for (auto& [link, session] : sessions_) {
    const auto node = observations_.nodes.find(session.node_id);
    if (node == observations_.nodes.end()) continue;
    const auto report = node->second.reports.lower_bound({job_id, 0});
    const bool has_attempts =
        report != node->second.reports.end() && report->first.job_id == job_id;
    if (has_attempts) session.archived[job_id] = std::nullopt;
  }
}

void Sessions::Detach(LinkId link, WorkerActions& actions) {
  const Session* session = Find(link);
  if (session == nullptr) return;
  actions.emplace_back(Info(absl::StrCat("worker ", session->node_id, " detached")));
  Erase(*session);
}

void Sessions::Erase(const Session& session) {
  ObserveDetached(session.node_id, observations_);
  links_by_node_.erase(session.node_id);
  sessions_.erase(session.link);
}

void Sessions::CloseAll(const absl::Status& status, WorkerActions& actions) {
  closed_ = status;
  for (const auto& [link, session] : sessions_) actions.emplace_back(EndLink{link, status});
}

void Sessions::RefreshPausedHeartbeats(const LinkStates& links, Timestamp now) {
  for (const auto& [link, session] : sessions_) {
    if (session.welcomed && !links(link).reading_paused) continue;
    ObserveUnread(session.node_id, now, state_, observations_);
  }
}

void Sessions::CutOffSlowWorkers(const LinkStates& links, Timestamp now, WorkerActions& actions) {
  const Timestamp steady_ms = now - observations_.stepped_ms;
  const int64_t gap = steady_ms - std::exchange(looked_for_slow_ms_, steady_ms);
  // A stall of the controller does not count, because the controller sent nothing during the stall.
  const int64_t passed = IsOwnStall(gap) ? 0 : gap;
  for (auto& [link, session] : sessions_) {
    const LinkState state = links(link);
    if (state.waiting == 0 || state.taken != session.taken) {
      session.taken = state.taken;
      session.unread_ms = 0;
    } else if ((session.unread_ms += passed) >= kSlowConsumerMs) {
      actions.emplace_back(
          Warning(absl::StrCat("worker ", session.node_id, " has read nothing for ",
                               kSlowConsumerMs / 1000, " s, so it is disconnected")));
      actions.emplace_back(
          EndLink{link, absl::ResourceExhaustedError("the worker does not read its stream"), true});
    }
  }
}

Session* Sessions::Find(LinkId link) {
  const auto it = sessions_.find(link);
  return it == sessions_.end() ? nullptr : &it->second;
}

const Session* Sessions::FindNode(const std::string& node_id) const {
  const auto it = links_by_node_.find(node_id);
  return it == links_by_node_.end() ? nullptr : &sessions_.at(it->second);
}

absl::StatusOr<LinkId> Sessions::LinkForExec(const std::string& node_id) const {
  const Session* session = FindNode(node_id);
  if (session == nullptr || !session->welcomed) {
    return absl::FailedPreconditionError(absl::StrCat("the worker of node ",
                                                      NodeName(state_, node_id),
                                                      " is not connected; try again once it is"));
  }
  if (session->serves_exec) return session->link;
  return absl::FailedPreconditionError(
      absl::StrCat("the worker of node ", NodeName(state_, node_id),
                   " is of an older release, which does not support exec; upgrade it"));
}

}  // namespace trainyard::controller
