#include "controller/kernel/worker_kernel.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/observations/observe.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/stream_fence.h"
#include "controller/core/state/jobs/history_losses.h"
#include "controller/core/support/core_options.h"
#include "proto/contract/leader_term.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kMarkEveryMs = 5000;

// Returns the time of the newest report that showed the exited rank running, or 0 if there is none.
// `fact` must be a RankExited fact.
Timestamp RanMs(const ClusterState& state, const Observations& observations, const v1::Fact& fact) {
  const AttemptKey key{fact.rank_exited().job_id(), fact.rank_exited().attempt()};
  const AttemptObservation* attempt = ObservedAttempt(observations, key);
  if (attempt == nullptr) return 0;
  const auto rank = attempt->ranks.find(PlaceIn(state, key, fact.rank_exited().rank()));
  return rank == attempt->ranks.end() ? 0 : rank->second.ran_ms;
}

}  // namespace

WorkerKernel::WorkerKernel(const ClusterState& state, Observations& observations,
                           const CoreOptions& core, Options options)
    : state_(state),
      observations_(observations),
      leader_term_(core.leader_term),
      links_(std::move(options.links)),
      marks_(std::move(options.marks)),
      sessions_(state, observations, core, std::move(options.cluster_id), marks_),
      telemetry_(state, observations) {}

WorkerActions WorkerKernel::Receive(LinkId link, v1::WorkerMessage message, Permit permit,
                                    Timestamp now) {
  WorkerActions actions;
  if (message.has_hello()) {
    sessions_.Attach(link, std::move(*message.mutable_hello()), now, actions);
    return WithTerm(std::move(actions));
  }
  Session* session = sessions_.Find(link);
  if (session == nullptr) return actions;
  // The node is missing until its Hello is answered, because only the answer shows whether the node
  // belongs to this cluster.
  const auto node = observations_.nodes.find(session->node_id);
  // A blocked worker's heartbeat contains no reports about its ranks. Such a message does not count
  // as a heartbeat. The node therefore becomes suspect, and reports of stalled peers can show that
  // its ranks are lost.
  const bool counts = !message.heartbeat().blocked();
  if (node != observations_.nodes.end() && counts) node->second.last_heartbeat_ms = now;
  if (message.has_heartbeat()) {
    for (v1::AttemptReport& report : *message.mutable_heartbeat()->mutable_attempts()) {
      KeepOwnRanks(state_, session->node_id, report);
    }
    ObserveHeartbeat(session->node_id, message.heartbeat(), now, state_, observations_);
  } else if (message.has_fact()) {
    SubmitFact(*session, std::move(*message.mutable_fact()), std::move(permit), actions);
  } else if (message.has_telemetry()) {
    telemetry_.AddTelemetry(*session, std::move(*message.mutable_telemetry()), std::move(permit),
                            now, actions);
  } else if (message.has_log()) {
    telemetry_.AddOutput(*session, std::move(*message.mutable_log()), std::move(permit), actions);
  }
  return WithTerm(std::move(actions));
}

WorkerActions WorkerKernel::Closed(LinkId link) {
  WorkerActions actions;
  sessions_.Detach(link, actions);
  return WithTerm(std::move(actions));
}

WorkerActions WorkerKernel::CloseAll(const absl::Status& status) {
  WorkerActions actions;
  sessions_.CloseAll(status, actions);
  return WithTerm(std::move(actions));
}

void WorkerKernel::SubmitFact(const Session& session, v1::Fact fact, Permit permit,
                              WorkerActions& actions) {
  if (fact.has_rank_exited()) {
    telemetry_.BeforeExit({fact.rank_exited().job_id(), fact.rank_exited().attempt()}, actions);
  }
  const Timestamp ran_ms = fact.has_rank_exited() ? RanMs(state_, observations_, fact) : 0;
  actions.emplace_back(
      SubmitRequest{ReceiveFact{session.node_id, std::move(fact),
                                ClockAheadMs(observations_, session.node_id), ran_ms},
                    {RequestTag::Kind::kFact, session.link, 0},
                    std::move(permit)});
}

WorkerActions WorkerKernel::Answered(const RequestTag& tag, const absl::Status& answer,
                                     Timestamp now) {
  WorkerActions actions;
  switch (tag.kind) {
    case RequestTag::Kind::kAttach:
      sessions_.Attached(tag.link, answer, now, actions);
      LeaveOutLoaded(actions);
      break;
    case RequestTag::Kind::kFact:
      FactAnswered(tag.link, answer, actions);
      break;
    case RequestTag::Kind::kRecord:
      telemetry_.Answered(tag, answer, actions);
      break;
    case RequestTag::Kind::kReport:
    case RequestTag::Kind::kLostEvents:
      // Nothing to do: AfterCommit logs the event. The worker is refused until the event is stored.
      break;
  }
  return WithTerm(std::move(actions));
}

void WorkerKernel::FactAnswered(LinkId link, const absl::Status& answer, WorkerActions& actions) {
  const Session* session = sessions_.Find(link);
  if (session == nullptr) return;
  if (!answer.ok()) {
    actions.emplace_back(
        Error(absl::StrCat("fact of worker ", session->node_id, " refused: ", answer.ToString())));
    actions.emplace_back(EndLink{link, answer});
    return;
  }
  const auto node = state_.nodes.find(session->node_id);
  if (node == state_.nodes.end()) {
    // The commit that contains the fact may also remove the node.
    actions.emplace_back(
        EndLink{link, absl::AbortedError("the node was removed while its worker sent a fact")});
    return;
  }
  SendMessage send{link, {}};
  send.message.mutable_facts_acknowledged()->set_fact_sequence(node->second.fact_sequence);
  actions.emplace_back(std::move(send));
  AddMarks(actions);
}

WorkerActions WorkerKernel::WithTerm(WorkerActions actions) const {
  for (WorkerAction& action : actions) {
    auto* send = std::get_if<SendMessage>(&action);
    if (send != nullptr) SetLeaderTerm(leader_term_, send->message);
  }
  return actions;
}

void WorkerKernel::AddMarks(WorkerActions& actions) const {
  v1::LogMark mark = marks_.newest();
  if (mark.sequence() == 0) return;
  mark.set_job_id(state_.next_job_id - 1);
  for (WorkerAction& action : actions) {
    auto* send = std::get_if<SendMessage>(&action);
    if (send == nullptr) continue;
    v1::ControllerMessage& message = send->message;
    if (message.has_welcome()) {
      *message.mutable_welcome()->mutable_log_mark() = mark;
    } else if (message.has_start_attempt()) {
      *message.mutable_start_attempt()->mutable_log_mark() = mark;
    } else if (message.has_facts_acknowledged()) {
      *message.mutable_facts_acknowledged()->mutable_log_mark() = mark;
    }
  }
}

void WorkerKernel::LeaveOutLoaded(WorkerActions& actions) {
  for (WorkerAction& action : actions) {
    auto* read = std::get_if<ReadOffsets>(&action);
    if (read == nullptr) continue;
    std::erase_if(read->attempts, [&](const AttemptKey& attempt) {
      return telemetry_.known_alerts().IsLoaded(attempt);
    });
  }
}

WorkerActions WorkerKernel::OffsetsRead(LinkId link, StreamOffsets offsets, LoggedAlerts alerts,
                                        ArchivedJobs archived) {
  WorkerActions actions;
  telemetry_.known_alerts().Load(std::move(alerts));
  sessions_.Welcome(link, std::move(offsets), std::move(archived), actions);
  AddMarks(actions);
  return WithTerm(std::move(actions));
}

WorkerActions WorkerKernel::Stored(LinkId link, const v1::StreamId& stream,
                                   const absl::StatusOr<int64_t>& stored) {
  WorkerActions actions;
  Session* session = sessions_.Find(link);
  if (session != nullptr) TelemetryPath::Acknowledge(*session, stream, stored, actions);
  return WithTerm(std::move(actions));
}

WorkerActions WorkerKernel::BeforeTick(Timestamp now) {
  WorkerActions actions;
  sessions_.RefreshPausedHeartbeats(links_, now);
  sessions_.CutOffSlowWorkers(links_, now, actions);
  SendMarks(now, actions);
  telemetry_.BeforeTick(now, actions);
  return WithTerm(std::move(actions));
}

void WorkerKernel::SendMarks(Timestamp now, WorkerActions& actions) {
  if (marks_sent_ms_ <= now && now < marks_sent_ms_ + kMarkEveryMs) return;
  const uint64_t sequence = marks_.newest().sequence();
  if (sequence == mark_sent_) return;
  marks_sent_ms_ = now;
  mark_sent_ = sequence;
  for (const auto& [link, session] : sessions_.all()) {
    const auto node = state_.nodes.find(session.node_id);
    if (!session.welcomed || node == state_.nodes.end()) continue;
    SendMessage send{link, {}};
    send.message.mutable_facts_acknowledged()->set_fact_sequence(node->second.fact_sequence);
    actions.emplace_back(std::move(send));
  }
  AddMarks(actions);
}

void WorkerKernel::NoteStarts(const WorkerActions& actions) {
  for (const WorkerAction& action : actions) {
    const auto* send = std::get_if<SendMessage>(&action);
    if (send == nullptr || !send->message.has_start_attempt()) continue;
    const v1::StartAttempt& start = send->message.start_attempt();
    const Session* session = sessions_.Find(send->link);
    if (session == nullptr) continue;
    ObserveStartSent(session->node_id, {start.job_id(), start.attempt()}, observations_);
  }
}

WorkerActions WorkerKernel::AfterCommit(const ClusterView& view, const TickSummary& summary) {
  WorkerActions actions;
  for (const v1::Event& event : summary.events) {
    if (event.has_job_deleted()) sessions_.JobDeleted(event.job_deleted().job_id());
    if (event.has_events_lost()) actions.emplace_back(Error(LossText(HistoryLossOf(event))));
  }
  commands_.SendDue(view, sessions_, links_, actions);
  NoteStarts(actions);
  AddMarks(actions);
  return WithTerm(std::move(actions));
}

}  // namespace trainyard::controller
