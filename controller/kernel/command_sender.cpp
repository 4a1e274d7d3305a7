#include "controller/kernel/command_sender.h"

#include <algorithm>
#include <utility>

namespace trainyard::controller {
namespace {

constexpr int64_t kResendMs = 1000;

bool IsDeleted(const Session& session, int64_t job_id, const ClusterState& state) {
  const auto archived = session.archived.find(job_id);
  return !state.jobs.contains(job_id) && archived != session.archived.end() &&
         !archived->second.has_value();
}

// Returns true if the worker may forget the attempt. The attempt must have ended and be cleared on
// the worker's node. In addition, all its streams must be stored, unless the job is deleted.
bool MayForget(const Session& session, const v1::AttemptReport& report, const ClusterState& state) {
  const AttemptKey key{report.job_id(), report.attempt()};
  const bool is_wanted = !IsDeleted(session, report.job_id(), state);
  if (!report.cleared() || (is_wanted && !AllStored(session, report))) return false;
  // The worker keeps the output of a job that the restore lost. If only the attempt is lost and the
  // job is known, the output is stored as for other attempts.
  if (IsLostToRestore(state, report.job_id())) return false;
  const JobEntry* entry = FindEntry(state, key.job_id);
  const v1::Attempt* attempt = entry == nullptr ? nullptr : FindAttempt(entry->job, key.number);
  if (attempt != nullptr && attempt->state() != v1::ATTEMPT_STATE_ENDED) return false;
  const auto node = state.nodes.find(session.node_id);
  return node == state.nodes.end() || !node->second.uncleared.contains(key);
}

void AddForgetCommands(const ClusterView& view, const Sessions& sessions,
                       std::vector<Command>& commands) {
  for (const auto& [link, session] : sessions.all()) {
    const auto node = view.observations.nodes.find(session.node_id);
    if (node == view.observations.nodes.end()) continue;
    for (const auto& [key, report] : node->second.reports) {
      if (!MayForget(session, report, view.state)) continue;
      Command command{.node_id = session.node_id, .message = {}};
      command.message.mutable_forget_attempt()->set_job_id(key.job_id);
      command.message.mutable_forget_attempt()->set_attempt(key.number);
      commands.push_back(std::move(command));
    }
  }
}

}  // namespace

CommandSender::CommandKey CommandSender::KeyOf(const v1::ControllerMessage& message) {
  const int kind = message.kind_case();
  switch (message.kind_case()) {
    case v1::ControllerMessage::kStartAttempt:
      return {kind, message.start_attempt().job_id(), message.start_attempt().attempt(), 0};
    case v1::ControllerMessage::kStopAttempt:
      return {kind, message.stop_attempt().job_id(), message.stop_attempt().attempt(),
              ToMs(message.stop_attempt().grace())};
    case v1::ControllerMessage::kHealAttempt:
      return {kind, message.heal_attempt().job_id(), message.heal_attempt().attempt(),
              message.heal_attempt().generation()};
    default:
      return {kind, message.forget_attempt().job_id(), message.forget_attempt().attempt(), 0};
  }
}

void CommandSender::SendDue(const ClusterView& view, const Sessions& sessions,
                            const LinkStates& links, WorkerActions& actions) {
  std::vector<Command> commands = CommandsDue(view.state, view.observations, view.now);
  AddForgetCommands(view, sessions, commands);
  std::map<LinkId, SentTimes> due;
  const int64_t steady_ms = view.now - view.observations.stepped_ms;
  for (Command& command : commands) {
    const Session* session = sessions.FindNode(command.node_id);
    if (session == nullptr || !session->welcomed) continue;
    const CommandKey key = KeyOf(command.message);
    const SentTimes& before = sent_[session->link];
    const auto sent = before.find(key);
    const bool fresh = sent != before.end() &&
                       (steady_ms - sent->second < kResendMs || links(session->link).waiting > 0);
    due[session->link][key] = fresh ? sent->second : steady_ms;
    if (!fresh) actions.emplace_back(SendMessage{session->link, std::move(command.message)});
  }
  sent_ = std::move(due);
}

}  // namespace trainyard::controller
