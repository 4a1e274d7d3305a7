#include "controller/core/explain/explain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/left_out.h"
#include "controller/core/decide/pause.h"
#include "controller/core/explain/finding_messages.h"
#include "controller/core/explain/job_health.h"
#include "controller/core/explain/launcher_hint.h"
#include "controller/core/explain/log_parser_hint.h"
#include "controller/core/explain/other_reasons.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/run_advice.h"
#include "controller/core/explain/running_hint.h"
#include "controller/core/health/gang_limit.h"
#include "controller/core/health/node_health.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/state/attempts/time_limit.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/heal_policy.h"
#include "controller/core/verdict/time_limit_end.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_kind.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

std::string StartedRanks(const JobEntry& entry) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  return absl::StrCat(CountSeated(attempt, entry.started_ranks), " of ", GangSize(attempt),
                      " ranks have started");
}

std::string ProgressText(const Observations& observations, const JobEntry& entry, Timestamp now) {
  const auto found = observations.progress.find(entry.job.id());
  if (found == observations.progress.end()) return "; no step has been reported yet";
  const v1::Progress& progress = found->second;
  std::string text = absl::StrCat("; step ", progress.step());
  if (progress.total_steps() > 0) absl::StrAppend(&text, " of ", progress.total_steps());
  const int64_t age_ms = std::max<int64_t>(0, now - progress.time_ms());
  absl::StrAppend(&text, ", reported ", DurationText(age_ms), " ago");
  return text;
}

std::string SuspectNodes(const ClusterState& state, const JobEntry& entry) {
  std::string text;
  for (const std::string& node_id : NodesOf(SeatedMembers(*LiveAttempt(entry)))) {
    const v1::Node& node = state.nodes.at(node_id).node;
    if (node.state() != v1::NODE_STATE_SUSPECT) continue;
    absl::StrAppend(
        &text, "; node ", node.name(),
        " sends no heartbeat, but does not count as lost while ranks on other nodes make progress");
  }
  return text;
}

// Names the draining nodes that the running job must leave.
std::string DrainingNodes(const ClusterState& state, const JobEntry& entry, Timestamp now) {
  std::string text;
  for (const std::string& node_id : GangNodes(*LiveAttempt(entry))) {
    const v1::Node& node = state.nodes.at(node_id).node;
    if (!IsDraining(node)) continue;
    absl::StrAppend(&text, "; node ", node.name(), " is ", CordonText(node, now),
                    "; the job will save and continue on other nodes");
  }
  return text;
}

std::string LayoutGranted(const JobEntry& entry) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  if (!attempt.has_layout()) return "";
  const v1::GrantedLayout& granted = attempt.layout();
  const GangRequest request = GangRequestOf(entry.job.spec());
  const int asked = request.nodes;
  if (request.elastic) {
    const std::string& change = attempt.size_change();
    // A program in `command` divides its work itself.
    const bool has_layout = ProgramRulesOf(entry.job.spec()).has_layout;
    return absl::StrCat("; ", GangNodesText(entry.job), " nodes",
                        change.empty() ? "" : absl::StrCat(" (", change, ")"),
                        has_layout ? absl::StrCat(", layout ", GrantedText(granted)) : "");
  }
  return absl::StrCat("; layout ", GrantedText(granted),
                      granted.nodes() < asked
                          ? absl::StrCat(", because some of the requested ", asked,
                                         " nodes were lost and could not be replaced")
                          : "");
}

std::string RunningHintText(const ClusterState& state, const Observations& observations,
                            const JobEntry& entry, Timestamp now) {
  const std::optional<v1::PendingReason> reason = RunningHint(state, observations, entry, now);
  return reason.has_value() ? absl::StrCat("; ", reason->message()) : "";
}

// Returns the reason why the newest attempt of a recovering job was stopped.
const char* StopText(const v1::Attempt& attempt) {
  switch (attempt.stop_reason()) {
    case v1::STOP_REASON_ROLLED_BACK:
      return " was stopped by the loss guard: ";
    case v1::STOP_REASON_STALLED:
      return " was stopped by the watchdog: ";
    case v1::STOP_REASON_PAUSED:
      return " was paused and is being resumed";
    case v1::STOP_REASON_YIELDED:
      return " saved to continue on another number of nodes";
    default:
      return " failed because ";
  }
}

// Describes the newest rollback by the loss guard. Empty if there was none.
std::string RollbackText(const v1::Job& job) {
  if (job.rollbacks().empty()) return "";
  const v1::Rollback& newest = *job.rollbacks().rbegin();
  return absl::StrCat("; the loss guard rolled back ", Counted(job.rollbacks_size(), "time"),
                      " (limit ", job.spec().guard().max_rollbacks(), "), most recently from step ",
                      newest.step(), " to ", newest.to_step(), " because ", newest.reason());
}

// Describes the live attempt's spare nodes and heals. Empty for a job without spares.
std::string SparesText(const ClusterState& state, const Observations& observations,
                       const JobEntry& entry) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const int asked = GangRequestOf(entry.job.spec()).Spares();
  if (asked == 0) return "";
  const auto left = static_cast<int64_t>(WholeSpares(state, observations, entry).size());
  std::string text = absl::StrCat("; ", left, " of ", Counted(asked, "spare node"), " left");
  if (attempt.heals().empty()) return text;
  const v1::Heal& newest = *attempt.heals().rbegin();
  absl::StrAppend(&text, "; healed in place ", Counted(attempt.heals_size(), "time"),
                  ", most recently because ", newest.verdict().summary());
  return text;
}

// States the time limit and the rest of it. Empty for a job without a time limit.
std::string TimeLimitHint(const v1::Job& job, Timestamp now) {
  const std::optional<int64_t> remaining_ms = RemainingTime(job, now);
  if (!remaining_ms.has_value()) return "";
  const bool requeues = job.spec().at_time_limit() == v1::AT_TIME_LIMIT_REQUEUE;
  return absl::StrCat("; ", DurationText(*remaining_ms), " of its time limit of ",
                      TimeLimitText(job), " are left, then the job is ",
                      requeues ? "queued again" : "ended");
}

// Describes a job whose ranks are exiting because of a stop request or the time limit.
std::string StoppingText(const ClusterState& state, const JobEntry& entry) {
  const bool at_limit = NewestAttempt(entry)->stop_reason() == v1::STOP_REASON_TIME_LIMIT;
  const std::string cause =
      at_limit ? absl::StrCat("has reached its time limit of ", TimeLimitText(entry.job))
               : absl::StrCat("is being ", entry.kill_requested ? "killed" : "stopped");
  return absl::StrCat(cause, " and waits for its ranks to exit on ", UnclearedNodes(state, entry));
}

// Returns "; " followed by LimitText of the live gang. Empty if the job has no live attempt, or if
// LimitText is empty.
std::string LimitHint(const Observations& observations, const JobEntry& entry, Timestamp now,
                      const CoreOptions& options) {
  if (LiveAttempt(entry) == nullptr) return "";
  const GangLimit limit = LimitOfGang(observations, options, entry, now);
  const std::string text = LimitText(limit, entry, now);
  return text.empty() ? "" : absl::StrCat("; ", text);
}

// Describes a job whose ranks are saving and exiting.
std::string PausingText(const ClusterState& state, const JobEntry& entry) {
  const std::string waits =
      absl::StrCat("waits for its ranks to save and exit on ", UnclearedNodes(state, entry));
  const v1::Job& job = entry.job;
  if (job.has_pause()) {
    return absl::StrCat("is being paused by ", job.pause().actor(), " and ", waits);
  }
  const v1::Yield& yield = LiveAttempt(entry)->yield();
  return absl::StrCat("yields its slots, because ", yield.reason(), ", and ", waits,
                      yield.kept_nodes().empty()
                          ? "; then it returns to the queue"
                          : "; then it continues on another number of nodes");
}

// Explains why a queued job has left its slots. Empty if its newest attempt did not yield them.
std::string YieldedText(const JobEntry& entry) {
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr || !newest->has_yield()) return "";
  const StartingPoint start = NextStartingPoint(entry.job);
  return absl::StrCat(
      "; attempt ", newest->number(), " yielded its slots, because ", newest->yield().reason(),
      start.step > 0 ? absl::StrCat(", and the job continues from step ", start.step) : "");
}

std::string Answer(const ClusterView& view, const JobEntry& entry) {
  const ClusterState& state = view.state;
  const Observations& observations = view.observations;
  const Timestamp now = view.now;
  const v1::Job& job = entry.job;
  switch (job.state()) {
    case v1::JOB_STATE_QUEUED:
      return absl::StrCat("waits: ", WhyPending(view, entry).message(), YieldedText(entry));
    case v1::JOB_STATE_RECOVERING:
      return absl::StrCat("recovers: ", WhyPending(view, entry).message(), "; attempt ",
                          NewestAttempt(entry)->number(), StopText(*NewestAttempt(entry)),
                          NewestAttempt(entry)->verdict().summary());
    case v1::JOB_STATE_STARTING:
      return absl::StrCat("starts attempt ", LiveAttempt(entry)->number(), ": ",
                          StartedRanks(entry), SuspectNodes(state, entry),
                          DrainingNodes(state, entry, now), TimeLimitHint(job, now));
    case v1::JOB_STATE_RUNNING:
      return absl::StrCat(
          "runs attempt ", LiveAttempt(entry)->number(), ProgressText(observations, entry, now),
          LayoutGranted(entry), SuspectNodes(state, entry), DrainingNodes(state, entry, now),
          RunningHintText(state, observations, entry, now), SparesText(state, observations, entry),
          RollbackText(job), TimeLimitHint(job, now));
    case v1::JOB_STATE_PAUSING:
      return PausingText(state, entry);
    case v1::JOB_STATE_PAUSED:
    case v1::JOB_STATE_HELD:
      return absl::StrCat("is ", PauseText(entry), " (asked for ",
                          DurationText(std::max<int64_t>(0, now - job.pause().time_ms())), " ago)");
    case v1::JOB_STATE_STOPPING:
      return StoppingText(state, entry);
    default:
      return absl::StrCat(EnumText(job.state()), ": ", job.verdict().summary());
  }
}

}  // namespace

v1::WhyJobResponse ExplainJob(const ClusterView& view, const JobEntry& entry) {
  const ClusterState& state = view.state;
  const Observations& observations = view.observations;
  const Timestamp now = view.now;
  v1::WhyJobResponse response;
  *response.mutable_job() = entry.job;
  *response.mutable_job()->mutable_health() = HealthOf(state, observations, entry, now);
  *response.mutable_pending() = WhyPending(view, entry);
  AddOtherReasons(view, entry, *response.mutable_pending());
  if (auto reason = RunningHint(state, observations, entry, now)) {
    *response.mutable_pending() = *std::move(reason);
  }
  const v1::Attempt* newest = NewestAttempt(entry);
  if (entry.job.has_verdict()) {
    *response.mutable_verdict() = entry.job.verdict();
  } else if (newest != nullptr && newest->has_verdict()) {
    *response.mutable_verdict() = newest->verdict();
  }
  std::vector<planner::Finding> findings = AdviceOn(state, observations, entry);
  if (auto left_out = LeftOutFinding(observations, entry.job.id(), now)) {
    findings.push_back(*std::move(left_out));
  }
  if (auto bad = BadTelemetryFinding(observations, entry)) findings.push_back(*std::move(bad));
  if (auto restarts = LauncherFinding(observations, entry)) findings.push_back(*restarts);
  AddFindings(findings, *response.mutable_findings());
  response.set_answer(absl::StrCat(JobText(entry.job), " ", Answer(view, entry),
                                   LimitHint(observations, entry, now, view.options)));
  return response;
}

}  // namespace trainyard::controller
