#include "controller/core/explain/explain.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/decide/left_out.h"
#include "controller/core/decide/pause.h"
#include "controller/core/explain/run_advice.h"
#include "controller/core/explain/running_hint.h"
#include "controller/core/health/gang_limit.h"
#include "controller/core/health/node_health.h"
#include "controller/core/observations/root_sightings.h"
#include "controller/core/requests/submission.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/state/gang.h"
#include "controller/core/state/gang_shape.h"
#include "controller/core/state/job_state_machine.h"
#include "controller/core/state/job_timing.h"
#include "controller/core/support/core_options.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/heal_policy.h"
#include "proto/jobspec/auto_layout.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/rules.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

v1::PendingReason Reason(v1::PendingCode code, std::string message) {
  v1::PendingReason reason;
  reason.set_code(code);
  reason.set_message(std::move(message));
  return reason;
}

// True if the job has a position in the queue. A job in its backoff, or without a fitting layout,
// has none: it requests no slots and blocks no other job.
bool Queues(const JobEntry& entry, Timestamp now) {
  return IsDue(entry, now) && !HasNoLayout(entry);
}

int JobsBefore(const ClusterState& state, int64_t job_id, Timestamp now) {
  return static_cast<int>(
      std::count_if(state.pending_jobs.begin(), state.pending_jobs.lower_bound(job_id),
                    [&](const int64_t id) { return Queues(state.jobs.at(id), now); }));
}

// First job of the queue, which must not be empty.
const JobEntry& HeadOfQueue(const ClusterState& state, Timestamp now) {
  return state.jobs.at(
      *std::find_if(state.pending_jobs.begin(), state.pending_jobs.end(),
                    [&](const int64_t id) { return Queues(state.jobs.at(id), now); }));
}

// Reason why the node accepts no ranks: "lost", "cordoned: bad fan (user ada)".
std::string WhyUnavailable(const v1::Node& node, Timestamp now) {
  if (node.state() != v1::NODE_STATE_READY) return EnumText(node.state());
  if (!node.cordoned()) return HealthText(node, now);
  return absl::StrCat("cordoned: ", node.cordon_reason());
}

// Cordoned ready nodes that could give the gang its slots now: as many as the gang needs in
// addition to `fitting_nodes`. Empty if they are not enough.
std::vector<std::string> CordonsInTheWay(const ClusterState& state, const GangShape& shape,
                                         int fitting_nodes) {
  std::vector<std::string> names;
  for (const auto& [id, entry] : state.nodes) {
    const v1::Node& node = entry.node;
    const bool kept_off = node.state() == v1::NODE_STATE_READY && node.cordoned();
    if (!kept_off || FreeSlots(node, shape.kind) < shape.slots_per_node) continue;
    if (static_cast<int>(names.size()) < shape.nodes - fitting_nodes) names.push_back(node.name());
  }
  if (fitting_nodes + static_cast<int>(names.size()) < shape.nodes) return {};
  return names;
}

// Advice on how to get slots for the head of the queue.
std::string HeadAdvice(const ClusterState& state, const GangShape& shape, int fitting_nodes) {
  const absl::Status fits = CheckShapeFits(state, shape);
  if (!fits.ok()) return std::string(fits.message());
  const std::vector<std::string> cordoned = CordonsInTheWay(state, shape, fitting_nodes);
  if (cordoned.empty()) return "`trainyard ps` shows what holds the slots";
  return absl::StrCat("`trainyard node uncordon ",
                      absl::StrJoin(cordoned, "` and `trainyard node uncordon "),
                      "` would let it start");
}

// "24 of 40 gpu slots on ready nodes are taken; node-3 is suspect".
std::string ClusterText(const ClusterState& state, v1::DeviceKind kind, Timestamp now) {
  int total = 0, free = 0;
  std::vector<std::string> disconnected;
  for (const auto& [id, entry] : state.nodes) {
    const v1::Node& node = entry.node;
    if (TakesRanks(node) && IsHealthy(node)) {
      total += TotalSlots(node, kind);
      free += FreeSlots(node, kind);
    } else if (TotalSlots(node, kind) > 0) {
      disconnected.push_back(absl::StrCat(node.name(), " is ", WhyUnavailable(node, now)));
    }
  }
  std::string text = absl::StrCat(total - free, " of ", total, " ", KindName(kind),
                                  " slots on ready nodes are taken");
  constexpr std::size_t kNodesNamed = 5;
  if (disconnected.size() > kNodesNamed) {
    const std::size_t more = disconnected.size() - kNodesNamed;
    disconnected.resize(kNodesNamed);
    disconnected.push_back(
        absl::StrCat(Counted(static_cast<int64_t>(more), "more node"), " not ready"));
  }
  if (!disconnected.empty()) absl::StrAppend(&text, "; ", absl::StrJoin(disconnected, ", "));
  return text;
}

// Reason why a job with auto_layout has no layout for the slots that it asks for.
v1::PendingReason WhyNoLayout(const JobEntry& entry) {
  const v1::GrantedLayout* choice = NewestFullChoice(entry);
  if (choice == nullptr) {
    return Reason(v1::PENDING_CODE_LAYOUT, "its layout is being chosen, which takes a second");
  }
  v1::PendingReason reason = Reason(v1::PENDING_CODE_LAYOUT, choice->problem());
  reason.set_advice(choice->advice());
  return reason;
}

// Reason why a job with auto_layout does not continue on the remaining nodes; empty if it may.
std::string WhyNotWithFewer(const JobEntry& entry) {
  if (entry.layouts.empty()) return "";
  const v1::GrantedLayout& newest = entry.layouts.back();
  const bool is_fewer = newest.asked_nodes() < entry.job.spec().resources().nodes();
  if (!is_fewer || newest.nodes() > 0) return "";
  return absl::StrCat("; it cannot go on with fewer: ", newest.problem());
}

// Differences between the nodes' checkpoint roots, for a gang that needs a shared root. Otherwise
// empty.
std::string RootsInTheWay(const ClusterState& state, const v1::JobSpec& spec,
                          const RootSightings* roots) {
  const bool needs_one = roots != nullptr && NeedsSharedRoot(spec, ShapeOf(spec).nodes, *roots);
  return needs_one ? RootDifferences(state, *roots) : "";
}

// Reason why the first job of the queue waits although its slots are free.
v1::PendingReason WhyNoSharedRoot(const GangShape& shape, const std::string& differences,
                                  const RootSightings& roots) {
  v1::PendingReason reason = Reason(
      v1::PENDING_CODE_RESOURCES,
      absl::StrCat("needs ", ShapeText(shape.nodes, shape.slots_per_node, shape.kind),
                   " on nodes that share the checkpoint root ", roots.path, ": ", differences));
  reason.set_advice(RootAdvice(roots));
  return reason;
}

// Reason why the first job of the queue waits.
v1::PendingReason WhyHeadWaits(const ClusterState& state, const JobEntry& entry, Timestamp now,
                               const RootSightings* roots) {
  const GangShape shape = ShapeOf(entry.job.spec());
  const NodeLimits limits{.changing = {}, .closed = ClosedNodes(state, now), .roots = roots};
  PlacementPass pass(state, limits);
  if (pass.Place(entry).has_value()) {
    return Reason(v1::PENDING_CODE_RESOURCES, "its slots are free: it is placed in a moment");
  }
  const std::string differences = RootsInTheWay(state, entry.job.spec(), roots);
  if (!differences.empty()) {
    PlacementPass anywhere(state, {.changing = {}, .closed = limits.closed, .roots = nullptr});
    if (anywhere.Place(entry).has_value()) return WhyNoSharedRoot(shape, differences, *roots);
  }
  const bool keeps = state.recovering_jobs.contains(entry.job.id());
  const int fitting_nodes = pass.CountFittingNodes(shape);
  v1::PendingReason reason = Reason(
      v1::PENDING_CODE_RESOURCES,
      absl::StrCat("needs ", ShapeText(shape.nodes, shape.slots_per_node, shape.kind),
                   keeps ? " (those that it had and that are left stay reserved for it)" : "", "; ",
                   Counted(fitting_nodes, "ready node"), " of ", state.nodes.size(),
                   " could give that many now: ", ClusterText(state, shape.kind, now),
                   WhyNotWithFewer(entry),
                   differences.empty()
                       ? ""
                       : absl::StrCat("; they must share ", roots->path, ": ", differences)));
  reason.set_advice(HeadAdvice(state, shape, fitting_nodes));
  return reason;
}

// Reason why a job with `before` jobs ahead of it waits. `head_waits`: reason of the first of those
// jobs.
v1::PendingReason WhyOvertakesNobody(const JobEntry& head, const std::string& head_waits,
                                     int before) {
  v1::PendingReason reason = Reason(
      v1::PENDING_CODE_PRIORITY,
      absl::StrCat(Counted(before, "job"), before == 1 ? " is" : " are",
                   " before it in the queue; ", JobText(head.job), " is next and ", head_waits));
  reason.set_advice(
      absl::StrCat("`trainyard why ", head.job.id(), "` tells more about the next job"));
  return reason;
}

std::string UnclearedNodes(const ClusterState& state, const JobEntry& entry) {
  std::vector<std::string> names;
  for (const std::string& node_id : GangNodes(*LiveAttempt(entry))) {
    if (!entry.cleared_nodes.contains(node_id)) names.push_back(NodeName(state, node_id));
  }
  return absl::StrJoin(names, ", ");
}

v1::PendingReason WhyBacksOff(const v1::Job& job, const v1::Attempt& failed, Timestamp now) {
  v1::PendingReason reason =
      Reason(v1::PENDING_CODE_BACKOFF,
             absl::StrCat("waits ", DurationText(job.not_before_ms() - now),
                          " more before attempt ", failed.number() + 1, ", since attempt ",
                          failed.number(), " failed: ", failed.verdict().summary(), " (restart ",
                          job.restarts(), " of ", job.spec().restart().max_restarts(), ")"));
  reason.set_advice("restart.backoff and restart.backoff_max set the wait");
  return reason;
}

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
    absl::StrAppend(&text, "; node ", node.name(),
                    " sends no heartbeat, which is no failure while its peers make progress");
  }
  return text;
}

std::string LayoutGranted(const JobEntry& entry) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  if (!attempt.has_layout()) return "";
  const v1::GrantedLayout& granted = attempt.layout();
  const int asked = entry.job.spec().resources().nodes();
  return absl::StrCat("; layout ", GrantedText(granted),
                      granted.nodes() < asked ? absl::StrCat(", for the lost ones of its ", asked,
                                                             " nodes could not be replaced")
                                              : "");
}

std::string RunningHintText(const ClusterState& state, const Observations& observations,
                            const JobEntry& entry, Timestamp now) {
  const std::optional<v1::PendingReason> reason = RunningHint(state, observations, entry, now);
  return reason.has_value() ? absl::StrCat("; ", reason->message()) : "";
}

// Reason why the newest attempt of a recovering job was stopped.
const char* StopText(const v1::Attempt& attempt) {
  switch (attempt.stop_reason()) {
    case v1::STOP_REASON_ROLLED_BACK:
      return " was stopped by the loss guard: ";
    case v1::STOP_REASON_HUNG:
      return " was stopped by the watchdog: ";
    case v1::STOP_REASON_PAUSED:
      return " was paused and is resumed";
    default:
      return " failed because ";
  }
}

// Newest rollback by the loss guard; empty if there was none.
std::string RollbackText(const v1::Job& job) {
  if (job.rollbacks().empty()) return "";
  const v1::Rollback& newest = *job.rollbacks().rbegin();
  return absl::StrCat("; the loss guard went back ", Counted(job.rollbacks_size(), "time"), " of ",
                      job.spec().guard().max_rollbacks(), ", the last time from step ",
                      newest.step(), " to ", newest.to_step(), " because ", newest.reason());
}

// Spare nodes of the live attempt, and its heals. Empty for a job without spares.
std::string SparesText(const ClusterState& state, const Observations& observations,
                       const JobEntry& entry) {
  const v1::Attempt& attempt = *LiveAttempt(entry);
  const int asked = entry.job.spec().restart().spares();
  if (asked == 0) return "";
  const auto left = static_cast<int64_t>(WholeSpares(state, observations, entry).size());
  std::string text = absl::StrCat("; ", left, " of ", Counted(asked, "spare node"), " left");
  if (attempt.heals().empty()) return text;
  const v1::Heal& newest = *attempt.heals().rbegin();
  absl::StrAppend(&text, "; healed in place ", Counted(attempt.heals_size(), "time"),
                  ", the last time because ", newest.verdict().summary());
  return text;
}

// Limit of the live gang's state.
std::string LimitHint(const Observations& observations, const JobEntry& entry, Timestamp now,
                      const CoreOptions& options) {
  if (LiveAttempt(entry) == nullptr) return "";
  const GangLimit limit = LimitOfGang(observations, options, entry, now);
  const std::string text = LimitText(limit, entry, now);
  return text.empty() ? "" : absl::StrCat("; ", text);
}

std::string Answer(const ClusterState& state, const Observations& observations,
                   const JobEntry& entry, Timestamp now) {
  const v1::Job& job = entry.job;
  switch (job.state()) {
    case v1::JOB_STATE_QUEUED:
      return absl::StrCat("waits: ", WhyPending(state, entry, now, &observations.roots).message());
    case v1::JOB_STATE_RECOVERING:
      return absl::StrCat(
          "recovers: ", WhyPending(state, entry, now, &observations.roots).message(), "; attempt ",
          NewestAttempt(entry)->number(), StopText(*NewestAttempt(entry)),
          NewestAttempt(entry)->verdict().summary());
    case v1::JOB_STATE_STARTING:
      return absl::StrCat("starts attempt ", LiveAttempt(entry)->number(), ": ",
                          StartedRanks(entry), SuspectNodes(state, entry));
    case v1::JOB_STATE_RUNNING:
      return absl::StrCat("runs attempt ", LiveAttempt(entry)->number(),
                          ProgressText(observations, entry, now), LayoutGranted(entry),
                          SuspectNodes(state, entry),
                          RunningHintText(state, observations, entry, now),
                          SparesText(state, observations, entry), RollbackText(job));
    case v1::JOB_STATE_PAUSING:
      return absl::StrCat(
          "is being paused by ", job.pause().actor(),
          ": waits until its ranks have saved and left: ", UnclearedNodes(state, entry));
    case v1::JOB_STATE_PAUSED:
    case v1::JOB_STATE_HELD:
      return absl::StrCat(PauseText(entry), " (asked for ",
                          DurationText(std::max<int64_t>(0, now - job.pause().time_ms())), " ago)");
    case v1::JOB_STATE_STOPPING:
      return absl::StrCat("is being ", entry.kill_requested ? "killed" : "stopped",
                          ": waits until its ranks have left: ", UnclearedNodes(state, entry));
    default:
      return absl::StrCat(EnumText(job.state()), ": ", job.verdict().summary());
  }
}

}  // namespace

v1::PendingCode PendingCodeOf(const ClusterState& state, const JobEntry& entry, Timestamp now) {
  const v1::Job& job = entry.job;
  if (job.state() == v1::JOB_STATE_RECOVERING && LiveAttempt(entry) != nullptr) {
    return v1::PENDING_CODE_STOPPING;
  }
  if (IsPausedOrHeld(job.state())) return v1::PENDING_CODE_PAUSED;
  if (!state.pending_jobs.contains(job.id())) return v1::PENDING_CODE_NOT_PENDING;
  if (!IsDue(entry, now)) return v1::PENDING_CODE_BACKOFF;
  if (HasNoLayout(entry)) return v1::PENDING_CODE_LAYOUT;
  const bool is_head = HeadOfQueue(state, now).job.id() == job.id();
  if (!is_head) return v1::PENDING_CODE_PRIORITY;
  const bool lacks_layout = job.spec().auto_layout() && NewestFullChoice(entry) == nullptr;
  return lacks_layout ? v1::PENDING_CODE_LAYOUT : v1::PENDING_CODE_RESOURCES;
}

PendingExplainer::PendingExplainer(const ClusterState& state, Timestamp now,
                                   const RootSightings* roots)
    : state_(state), now_(now), roots_(roots) {}

int PendingExplainer::QueuePosition(const JobEntry& entry) {
  const int64_t job_id = entry.job.id();
  if (!state_.pending_jobs.contains(job_id) || !Queues(entry, now_)) return 0;
  if (queue_.empty()) {
    std::ranges::copy_if(state_.pending_jobs, std::back_inserter(queue_),
                         [&](int64_t id) { return Queues(state_.jobs.at(id), now_); });
  }
  return 1 + static_cast<int>(std::ranges::lower_bound(queue_, job_id) - queue_.begin());
}

const std::string& PendingExplainer::WhatHeadWaitsFor(const JobEntry& head) {
  if (!head_waits_.has_value()) head_waits_ = WhyHeadWaits(state_, head, now_, roots_).message();
  return *head_waits_;
}

v1::PendingReason PendingExplainer::ReasonOf(const JobEntry& entry) {
  const v1::PendingCode code = PendingCodeOf(state_, entry, now_);
  switch (code) {
    case v1::PENDING_CODE_STOPPING:
      return Reason(code,
                    absl::StrCat("waits until the ranks of attempt ", LiveAttempt(entry)->number(),
                                 " have left: ", UnclearedNodes(state_, entry)));
    case v1::PENDING_CODE_PAUSED: {
      v1::PendingReason reason = Reason(code, PauseText(entry));
      reason.set_advice(
          absl::StrCat("`trainyard resume ", entry.job.id(), "` puts it back into the queue"));
      return reason;
    }
    case v1::PENDING_CODE_BACKOFF:
      return WhyBacksOff(entry.job, *NewestAttempt(entry), now_);
    case v1::PENDING_CODE_LAYOUT:
      return WhyNoLayout(entry);
    case v1::PENDING_CODE_RESOURCES:
      return WhyHeadWaits(state_, entry, now_, roots_);
    case v1::PENDING_CODE_PRIORITY: {
      const JobEntry& head = HeadOfQueue(state_, now_);
      return WhyOvertakesNobody(head, WhatHeadWaitsFor(head), QueuePosition(entry) - 1);
    }
    default:
      return Reason(code, absl::StrCat("is ", EnumText(entry.job.state())));
  }
}

v1::PendingReason PendingExplainer::Why(const JobEntry& entry) {
  v1::PendingReason reason = ReasonOf(entry);
  reason.set_queue_position(QueuePosition(entry));
  return reason;
}

v1::PendingReason WhyPending(const ClusterState& state, const JobEntry& entry, Timestamp now,
                             const RootSightings* roots) {
  return PendingExplainer(state, now, roots).Why(entry);
}

v1::WhyJobResponse ExplainJob(const ClusterState& state, const Observations& observations,
                              const JobEntry& entry, Timestamp now, const CoreOptions& options) {
  v1::WhyJobResponse response;
  *response.mutable_job() = entry.job;
  *response.mutable_pending() = WhyPending(state, entry, now, &observations.roots);
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
  for (const planner::Finding& finding : findings) {
    v1::RunFinding& advice = *response.add_findings();
    advice.set_what(finding.what);
    advice.set_why(finding.why);
    advice.set_change(finding.right);
  }
  response.set_answer(absl::StrCat(JobText(entry.job), " ", Answer(state, observations, entry, now),
                                   LimitHint(observations, entry, now, options)));
  return response;
}

absl::StatusOr<v1::PlanJobResponse> PreviewJob(const ClusterState& state, const v1::JobSpec& spec,
                                               Timestamp now, const v1::GrantedLayout* layout,
                                               const RootSightings* roots) {
  JobEntry entry;
  Origins origins;
  *entry.job.mutable_spec() = spec;
  FillDefaults(*entry.job.mutable_spec(), origins);
  TRAINYARD_RETURN_IF_ERROR(CheckSpec(entry.job.spec(), origins));
  TRAINYARD_RETURN_IF_ERROR(Admit(state, entry.job.spec()));
  entry.job.set_id(state.next_job_id);
  entry.job.set_name(spec.name());
  const GangShape shape = ShapeOf(entry.job.spec());

  v1::PlanJobResponse response;
  for (std::string& warning : CheckLaunch(entry.job.spec(), origins)) {
    response.add_warnings(std::move(warning));
  }
  if (layout != nullptr) {
    entry.layouts.push_back(*layout);
    *response.mutable_layout() = *layout;
  }
  if (HasNoLayout(entry)) {
    *response.mutable_pending() = WhyNoLayout(entry);
    return response;
  }
  const int before = JobsBefore(state, entry.job.id(), now);
  std::optional<Gang> gang;
  if (before == 0) {
    gang = PlacementPass(state, {.changing = {}, .closed = ClosedNodes(state, now), .roots = roots})
               .Place(entry);
  }
  response.set_starts_now(gang.has_value());
  if (gang.has_value()) {
    *response.mutable_pending() = Reason(v1::PENDING_CODE_NOT_PENDING, "would start at once");
    if (roots != nullptr) {
      response.mutable_pending()->set_advice(RootWarning(state, entry.job.spec(), *roots));
    }
  } else {
    gang = PlaceOnEmptyCluster(state, shape);
    const JobEntry& head = before == 0 ? entry : HeadOfQueue(state, now);
    const v1::PendingReason head_waits = WhyHeadWaits(state, head, now, roots);
    *response.mutable_pending() =
        before == 0 ? head_waits : WhyOvertakesNobody(head, head_waits.message(), before);
    response.mutable_pending()->set_queue_position(before + 1);
  }
  const int training_nodes = entry.job.spec().resources().nodes();
  for (const v1::RankPlacement& rank : RanksOf(*gang, training_nodes)) {
    *response.add_ranks() = rank;
    (*response.mutable_node_names())[rank.node_id()] = NodeName(state, rank.node_id());
  }
  return response;
}

}  // namespace trainyard::controller
