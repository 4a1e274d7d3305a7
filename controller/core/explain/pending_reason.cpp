#include "controller/core/explain/pending_reason.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/decide/pause.h"
#include "controller/core/explain/array_reason.h"
#include "controller/core/explain/dependency_reason.h"
#include "controller/core/explain/host_reason.h"
#include "controller/core/explain/reservation_reason.h"
#include "controller/core/health/node_health.h"
#include "controller/core/observations/root_sightings.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/promise_history.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"
#include "controller/core/support/text.h"
#include "proto/json/enum_text.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

// The beginning of a message about missing slots.
constexpr char kNeeds[] = "needs ";

v1::PendingReason Reason(v1::PendingCode code, std::string message) {
  v1::PendingReason reason;
  reason.set_code(code);
  reason.set_message(std::move(message));
  return reason;
}

// Returns the reason why the node accepts no ranks, for example "lost" or "cordoned: bad fan (user
// ada)".
std::string WhyUnavailable(const v1::Node& node, Timestamp now) {
  if (node.state() != v1::NODE_STATE_READY) return EnumText(node.state());
  if (!node.cordoned()) return HealthText(node, now);
  return CordonText(node, now);
}

// Returns ready but cordoned nodes with enough free slots: as many as the gang lacks if
// `fitting_nodes` nodes fit already. Empty if there are too few such nodes.
std::vector<std::string> CordonsInTheWay(const ClusterState& state, const v1::JobSpec& spec,
                                         const GangShape& shape, int fitting_nodes) {
  std::vector<std::string> names;
  // The cordoned nodes may be in another group than the fitting ones.
  if (GroupsOf(state, spec, shape.kind).size() > 1) return names;
  for (const auto& [id, entry] : state.nodes) {
    const v1::Node& node = entry.node;
    const bool kept_off = node.state() == v1::NODE_STATE_READY && node.cordoned();
    if (!kept_off || !MayUse(spec, node) || FreeSlots(entry, shape.kind) < shape.slots_per_node)
      continue;
    if (static_cast<int>(names.size()) < shape.nodes - fitting_nodes) names.push_back(node.name());
  }
  if (fitting_nodes + static_cast<int>(names.size()) < shape.nodes) return {};
  return names;
}

// Advises the user how the head of the queue can get its slots.
std::string HeadAdvice(const ClusterState& state, const v1::JobSpec& spec, const GangShape& shape,
                       int fitting_nodes) {
  const absl::Status fits = CheckGangFits(state, spec, shape);
  if (!fits.ok()) return std::string(fits.message());
  const std::vector<std::string> cordoned = CordonsInTheWay(state, spec, shape, fitting_nodes);
  if (cordoned.empty()) return "`trainyard ps` shows the jobs that use the slots";
  return absl::StrCat("to let the job start, run `trainyard node uncordon ",
                      absl::StrJoin(cordoned, "` and `trainyard node uncordon "), "`");
}

// Returns, for example, "24 of 40 gpu slots on ready nodes are taken; node-3 is suspect".
std::string ClusterText(const ClusterState& state, v1::DeviceKind kind, Timestamp now) {
  int total = 0, free = 0;
  std::vector<std::string> disconnected;
  for (const auto& [id, entry] : state.nodes) {
    const v1::Node& node = entry.node;
    if (TakesRanks(node) && IsHealthy(node)) {
      total += TotalSlots(entry, kind);
      free += FreeSlots(entry, kind);
    } else if (TotalSlots(entry, kind) > 0) {
      disconnected.push_back(absl::StrCat(node.name(), " is ", WhyUnavailable(node, now)));
    }
  }
  std::string text = absl::StrCat(total - free, " of ", total, " ", KindName(kind),
                                  " slots on ready nodes are taken");
  constexpr std::size_t kNodesNamed = 5;
  if (disconnected.size() > kNodesNamed) {
    const std::size_t more = disconnected.size() - kNodesNamed;
    disconnected.resize(kNodesNamed);
    disconnected.push_back(absl::StrCat(Counted(static_cast<int64_t>(more), "more node"),
                                        more == 1 ? " is not ready" : " are not ready"));
  }
  if (!disconnected.empty()) absl::StrAppend(&text, "; ", absl::StrJoin(disconnected, ", "));
  return text;
}

// Returns the reason why a job with auto_layout does not shrink to fewer nodes, or "" if it may.
std::string WhyNotWithFewer(const JobEntry& entry) {
  if (entry.layouts.empty()) return "";
  const v1::GrantedLayout& newest = entry.layouts.back();
  const bool is_fewer = newest.asked_nodes() < GangRequestOf(entry.job.spec()).nodes;
  if (!is_fewer || newest.nodes() > 0) return "";
  return absl::StrCat("; the job cannot run on fewer nodes: ", newest.problem());
}

// Returns the reason why the head of the queue waits although its slots are free: the nodes do not
// share the checkpoint root.
v1::PendingReason WhyNoSharedRoot(const GangShape& shape, const std::string& differences,
                                  const RootSightings& roots) {
  v1::PendingReason reason = Reason(
      v1::PENDING_CODE_RESOURCES,
      absl::StrCat(kNeeds, GangText(shape), " on nodes that all see the same checkpoint root ",
                   roots.path, ": ", differences));
  reason.set_advice(RootAdvice(roots));
  return reason;
}

// Returns, for example, "none of 8 nodes has enough available slots", or "`placement` allows 3 of 8
// nodes; none of these has enough available slots".
std::string FittingNodesText(const ClusterState& state, const v1::JobSpec& spec,
                             const QueueHead& head) {
  const int fitting = head.fitting_nodes;
  const auto nodes = static_cast<int64_t>(state.nodes.size());
  const GangRequest request = GangRequestOf(spec);
  const std::string enough =
      absl::StrCat(" enough available slots", request.host.IsZero() ? "" : ", CPUs and memory");
  const v1::DeviceKind kind = request.kind;
  if (const std::string& level = spec.placement().within(); !level.empty()) {
    return absl::StrCat("all nodes must be in one group of the level ", level,
                        "; `placement` allows ", AllowedNodesText(state, spec, kind), "; ",
                        fitting == 0
                            ? absl::StrCat("none of these has", enough)
                            : absl::StrCat("the largest free group, ", head.fitting_group, ", has ",
                                           Counted(fitting, "node"), " with", enough));
  }
  if (!PlacementKey(spec).empty()) {
    return absl::StrCat("`placement` allows ", AllowedNodesText(state, spec, kind), "; ",
                        fitting == 0 ? "none" : absl::StrCat(fitting), " of these ",
                        fitting < 2 ? "has" : "have", enough);
  }
  if (GroupsOf(state, spec, kind).size() > 1) {
    return absl::StrCat("a gang uses one kind of device, and at most ", Counted(fitting, "node"),
                        " of one kind ", fitting == 1 ? "has" : "have", enough);
  }
  if (fitting > 0) {
    return absl::StrCat(fitting, " of ", Counted(nodes, "node"), fitting == 1 ? " has" : " have",
                        enough);
  }
  if (nodes == 1) return absl::StrCat("the only node does not have", enough);
  return absl::StrCat("none of ", nodes, " nodes has", enough);
}

// Returns a position in the queue in words: "second in line".
std::string LineText(int position) {
  constexpr std::array kOrdinals = {"first", "second",  "third",  "fourth", "fifth",
                                    "sixth", "seventh", "eighth", "ninth",  "tenth"};
  const bool has_word = position >= 1 && position <= static_cast<int>(kOrdinals.size());
  return has_word ? absl::StrCat(kOrdinals.at(static_cast<std::size_t>(position) - 1), " in line")
                  : absl::StrCat("number ", position, " in line");
}

v1::PendingReason LayoutIsBeingChosen() {
  return Reason(v1::PENDING_CODE_LAYOUT,
                "the layout of the job is being chosen, which takes about a second");
}

v1::DeviceKind KindOf(const v1::Job& job) { return GangRequestOf(job.spec()).kind; }

// Returns true if the job, which must be the first in its queue, waits for a layout choice. If the
// newest schedule names the job as the head, the head's shortage decides. Otherwise the job's
// choices decide.
bool AwaitsChoice(const ClusterView& view, const JobEntry& entry) {
  if (view.schedule.awaits_workers) return false;
  const QueueHead* head = view.schedule.AsHead(entry.job.id());
  if (head != nullptr) return head->shortage == Shortage::kLayout;
  return GangRequestOf(entry.job.spec()).auto_layout && NewestFullChoice(entry) == nullptr;
}

// See PendingExplainer::HeadOf.
const JobEntry* HeadOfQueue(const ClusterView& view, v1::DeviceKind kind) {
  if (const QueueHead* known = view.schedule.HeadOf(kind)) {
    const JobEntry* head = FindEntry(view.state, known->job_id);
    const bool waits = head != nullptr && view.state.pending_jobs.Contains(QueueKeyOf(head->job));
    if (waits) return head;
  }
  const std::vector<ClassRank> classes = RankClasses(view.state, kind, view.now);
  for (OrderedJobs jobs(classes); !jobs.empty(); jobs.Advance()) {
    const JobEntry& entry = view.state.jobs.at(jobs.front().job_id);
    if (RequestsSlots(view.state, entry, view.now) && !IsAtLimit(view, entry.job)) return &entry;
  }
  return nullptr;
}

v1::PendingReason WhyHeadWaits(const ClusterView& view, const JobEntry& entry) {
  if (view.schedule.awaits_workers) {
    return Reason(v1::PENDING_CODE_RESOURCES,
                  "the controller has just started; before it places jobs, it waits for its "
                  "workers to attach");
  }
  const QueueHead* head = view.schedule.AsHead(entry.job.id());
  if (head != nullptr) return WhyShort(view, entry, *head);
  return Reason(v1::PENDING_CODE_RESOURCES,
                "enough slots are free, and the job will be placed shortly");
}

// Adds the promised time, and a sentence such as "The slots are free within 20 min if running jobs
// end as expected". Adds nothing if the time is unknown. `slots`: whose slots.
void AddPromise(Timestamp promised, Timestamp now, const char* slots, v1::PendingReason& reason) {
  if (KnownPromise(promised, now) <= now) return;
  reason.set_promised_ms(promised);
  reason.set_message(absl::StrCat(reason.message(), ". ", slots, " are free within ",
                                  DurationText(promised - now),
                                  " if running jobs end as expected"));
}

v1::PendingReason WhyBacksOff(const v1::Job& job, const v1::Attempt& failed, Timestamp now) {
  v1::PendingReason reason =
      Reason(v1::PENDING_CODE_BACKOFF,
             absl::StrCat("waits ", DurationText(job.not_before_ms() - now), " before attempt ",
                          failed.number() + 1, " because attempt ", failed.number(),
                          " failed: ", failed.verdict().summary(), " (restart ", job.restarts(),
                          " of ", job.spec().restart().max_restarts(), ")"));
  reason.set_advice("restart.backoff and restart.backoff_max set the length of this wait");
  return reason;
}

}  // namespace

bool IsAtLimit(const ClusterView& view, const v1::Job& job) {
  const std::optional<Refusal> refusal = view.schedule.RefusalOf(job);
  if (refusal == Refusal::kClosedQuota) return true;
  if (refusal != Refusal::kQuota) return false;
  const JobClass job_class = ClassOf(job);
  return !QueueMayTake(view.state, job_class) || !UserMayTake(view.state, job_class);
}

v1::PendingReason WhyShort(const ClusterView& view, const JobEntry& entry, const QueueHead& head) {
  const v1::JobSpec& spec = entry.job.spec();
  const GangShape shape = LeastShape(entry);
  const RootSightings& roots = view.observations.roots;
  switch (head.shortage) {
    case Shortage::kLayout:
      return LayoutIsBeingChosen();
    case Shortage::kPort:
      return Reason(
          v1::PENDING_CODE_RESOURCES,
          "enough slots are free, but the first node of the job has no free rendezvous port");
    case Shortage::kChangingNode:
      return Reason(v1::PENDING_CODE_RESOURCES,
                    "enough slots are free, and the job will be placed shortly");
    default:
      break;
  }
  const std::string differences =
      NeedsSharedRoot(spec, shape.nodes, roots) ? RootDifferences(view.state, roots) : "";
  if (head.shortage == Shortage::kSharedRoot) return WhyNoSharedRoot(shape, differences, roots);
  const bool keeps = view.state.reservations.contains(entry.job.id());
  v1::PendingReason reason = Reason(
      v1::PENDING_CODE_RESOURCES,
      absl::StrCat(kNeeds, GangRequestOf(spec).elastic ? "at least " : "", GangText(shape),
                   keeps ? " (the slots that are already reserved for the job stay reserved)" : "",
                   "; ", FittingNodesText(view.state, spec, head), ": ",
                   ClusterText(view.state, shape.kind, view.now),
                   HostShortageText(view.state, spec, shape),
                   ReservationText(view.state, entry, shape, view.now), WhyNotWithFewer(entry),
                   differences.empty()
                       ? ""
                       : absl::StrCat("; the nodes of the job must all see the same directory at ",
                                      roots.path, ": ", differences)));
  const std::string reserved = ReservationAdvice(view.state, entry, shape, view.now);
  reason.set_advice(reserved.empty() ? HeadAdvice(view.state, spec, shape, head.fitting_nodes)
                                     : reserved);
  AddPromise(head.promised, view.now, "The slots", reason);
  return reason;
}

// Returns the reason why a job with auto_layout has no layout for the slots that it requests.
v1::PendingReason WhyNoLayout(const JobEntry& entry) {
  const v1::GrantedLayout* choice = NewestFullChoice(entry);
  if (choice == nullptr) {
    return LayoutIsBeingChosen();
  }
  v1::PendingReason reason = Reason(v1::PENDING_CODE_LAYOUT, choice->problem());
  reason.set_advice(choice->advice());
  return reason;
}

std::string UnclearedNodes(const ClusterState& state, const JobEntry& entry) {
  std::vector<std::string> names;
  for (const std::string& node_id : GangNodes(*LiveAttempt(entry))) {
    if (!entry.cleared_nodes.contains(node_id)) names.push_back(NodeName(state, node_id));
  }
  return absl::StrJoin(names, ", ");
}

v1::PendingCode PendingCodeOf(const ClusterView& view, const JobEntry& entry) {
  return PendingExplainer(view).CodeOf(entry);
}

v1::PendingCode PendingExplainer::CodeOf(const JobEntry& entry) {
  const v1::Job& job = entry.job;
  if (job.state() == v1::JOB_STATE_RECOVERING && LiveAttempt(entry) != nullptr) {
    return v1::PENDING_CODE_STOPPING;
  }
  if (IsPausedOrHeld(job.state())) return v1::PENDING_CODE_PAUSED;
  if (job.state() == v1::JOB_STATE_QUEUED && IsDependent(job)) return v1::PENDING_CODE_DEPENDENCY;
  if (view_.state.open_arrays.contains(job.id())) return v1::PENDING_CODE_ARRAY;
  if (!view_.state.pending_jobs.Contains(QueueKeyOf(job))) return v1::PENDING_CODE_NOT_PENDING;
  if (!IsDue(entry, view_.now)) return v1::PENDING_CODE_BACKOFF;
  if (HasNoLayout(view_.state, entry)) return v1::PENDING_CODE_LAYOUT;
  if (IsAtLimit(view_, job)) return v1::PENDING_CODE_QUOTA;
  if (HeadOf(KindOf(job)) != &entry) return v1::PENDING_CODE_PRIORITY;
  return AwaitsChoice(view_, entry) ? v1::PENDING_CODE_LAYOUT : v1::PENDING_CODE_RESOURCES;
}

const JobEntry* PendingExplainer::HeadOf(v1::DeviceKind kind) {
  const auto [found, is_new] = heads_.try_emplace(kind, nullptr);
  if (is_new) found->second = HeadOfQueue(view_, kind);
  return found->second;
}

bool PendingExplainer::IsBehindHead(const v1::Job& job) {
  const JobEntry* head = HeadOf(KindOf(job));
  return head != nullptr &&
         CountBefore(view_.state, head->job, view_.now) < CountBefore(view_.state, job, view_.now);
}

bool PendingExplainer::HasPosition(const JobEntry& entry) {
  // The head keeps its position even during its backoff, because other jobs wait for it.
  return RequestsSlots(view_.state, entry, view_.now) || &entry == HeadOf(KindOf(entry.job));
}

int PendingExplainer::CountAhead(const v1::Job& job) {
  // Only jobs that have run before and jobs with auto_layout can be in a backoff or lack a layout.
  // They are alone in their classes.
  return static_cast<int>(CountBefore(view_.state, job, view_.now, [&](int64_t id) {
    return HasPosition(view_.state.jobs.at(id));
  }));
}

const std::map<int64_t, int>& PendingExplainer::Positions(v1::DeviceKind kind) {
  const auto [found, is_new] = positions_.try_emplace(kind);
  if (!is_new) return found->second;
  int position = 0;
  for (const int64_t id : JobsInOrder(view_.state, kind, view_.now)) {
    if (HasPosition(view_.state.jobs.at(id))) found->second[id] = ++position;
  }
  return found->second;
}

int PendingExplainer::QueuePosition(const JobEntry& entry) {
  const bool has_position = view_.state.pending_jobs.Contains(QueueKeyOf(entry.job)) &&
                            RequestsSlots(view_.state, entry, view_.now);
  if (!has_position) return 0;
  if (explains_one_) return CountAhead(entry.job) + 1;
  return Positions(KindOf(entry.job)).at(entry.job.id());
}

const std::string& PendingExplainer::WhatHeadWaitsFor(const JobEntry& head) {
  const auto [found, is_new] = head_waits_.try_emplace(head.job.id());
  if (is_new) found->second = WhyHeadWaits(view_, head).message();
  return found->second;
}

v1::PendingReason PendingExplainer::WhyBehind(const v1::Job& job, int ahead) {
  const JobEntry& head = *HeadOf(KindOf(job));
  const std::string& waits = WhatHeadWaitsFor(head);
  const bool delays = view_.schedule.RefusalOf(job) == Refusal::kDelaysHead;
  v1::PendingReason reason =
      Reason(v1::PENDING_CODE_PRIORITY,
             absl::StrCat(LineText(ahead + 1), ", behind ", head.job.name(), " (#", head.job.id(),
                          absl::StartsWith(waits, kNeeds) ? "), which " : "): ", waits));
  reason.set_advice(
      delays && !job.spec().has_time_limit()
          ? absl::StrCat("slots are free for this job, but it could delay ", head.job.name(),
                         "; set a `time_limit` that ends before ", head.job.name(),
                         " gets its slots")
          : absl::StrCat("`trainyard why ", head.job.id(), "` explains the next job"));
  reason.set_blocking_job_id(head.job.id());
  const QueueHead* promised = view_.schedule.AsHead(job.id());
  if (promised != nullptr) {
    AddPromise(promised->promised, view_.now, "The slots of this job", reason);
  }
  return reason;
}

v1::PendingReason PendingExplainer::WhyQuota(const JobEntry& entry) const {
  const JobClass job_class = ClassOf(entry.job);
  const v1::SlotQuota quota = QuotaOf(QueueNamed(view_.state, job_class.queue), job_class.kind);
  const int64_t slots = int64_t{job_class.nodes} * job_class.slots_per_node;
  const int64_t of_queue = ClaimedSlotsOf(view_.state, {job_class.kind, job_class.queue, ""});
  const int64_t of_user =
      ClaimedSlotsOf(view_.state, {job_class.kind, job_class.queue, job_class.user});
  const bool is_queue = !QueueMayTake(view_.state, job_class);
  const bool is_closed = !is_queue && UserMayTake(view_.state, job_class);
  v1::PendingReason reason =
      Reason(v1::PENDING_CODE_QUOTA,
             absl::StrCat(kNeeds, slots, " ", KindName(job_class.kind), " slots, but ",
                          is_closed  ? absl::StrCat("the rest of the limit of the queue ",
                                                    job_class.queue, " is kept for an earlier job")
                          : is_queue ? absl::StrCat("the queue ", job_class.queue, " holds ",
                                                    of_queue, " and may hold ", quota.max_slots())
                                     : absl::StrCat(entry.job.user(), " holds ", of_user,
                                                    " in the queue ", job_class.queue,
                                                    " and may hold ", quota.max_slots_per_user())));
  reason.set_advice(absl::StrCat("`trainyard queue shares` shows the limits of ", job_class.queue));
  return reason;
}

v1::PendingReason PendingExplainer::ReasonOf(const JobEntry& entry, int position) {
  const v1::PendingCode code = CodeOf(entry);
  switch (code) {
    case v1::PENDING_CODE_STOPPING:
      return Reason(code, absl::StrCat("waits for attempt ", LiveAttempt(entry)->number(),
                                       " to exit on ", UnclearedNodes(view_.state, entry)));
    case v1::PENDING_CODE_PAUSED: {
      v1::PendingReason reason = Reason(code, PauseText(entry));
      reason.set_advice(
          absl::StrCat("`trainyard resume ", entry.job.id(), "` returns the job to the queue"));
      return reason;
    }
    case v1::PENDING_CODE_DEPENDENCY:
      return WhyDependent(view_.state, entry.job);
    case v1::PENDING_CODE_ARRAY:
      return WhyArray(view_.state, entry);
    case v1::PENDING_CODE_BACKOFF:
      return WhyBacksOff(entry.job, *NewestAttempt(entry), view_.now);
    case v1::PENDING_CODE_LAYOUT:
      return HasNoLayout(view_.state, entry) ? WhyNoLayout(entry) : LayoutIsBeingChosen();
    case v1::PENDING_CODE_QUOTA:
      return WhyQuota(entry);
    case v1::PENDING_CODE_RESOURCES:
      return WhyHeadWaits(view_, entry);
    case v1::PENDING_CODE_PRIORITY:
      return WhyBehind(entry.job, position - 1);
    default:
      return Reason(code, absl::StrCat("is ", EnumText(entry.job.state())));
  }
}

v1::PendingReason PendingExplainer::Why(const JobEntry& entry) {
  const int position = QueuePosition(entry);
  v1::PendingReason reason = ReasonOf(entry, position);
  reason.set_queue_position(position);
  const auto promises = view_.schedule.promises.find(entry.job.id());
  const bool waits = view_.state.pending_jobs.Contains(QueueKeyOf(entry.job));
  if (waits && promises != view_.schedule.promises.end()) {
    reason.mutable_promises()->Assign(promises->second.begin(), promises->second.end());
  }
  return reason;
}

v1::PendingReason WhyPending(const ClusterView& view, const JobEntry& entry) {
  return PendingExplainer(view, /*explains_one=*/true).Why(entry);
}

}  // namespace trainyard::controller
