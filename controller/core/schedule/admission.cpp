#include "controller/core/schedule/admission.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"
#include "controller/core/support/text.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

bool IsJoined(const NodeEntry& entry) { return entry.node.state() != v1::NODE_STATE_LOST; }

absl::Status CheckName(const ClusterState& state, const std::string& name) {
  const JobEntry* newest = NewestOfName(state, name);
  if (newest == nullptr) return absl::OkStatus();
  const v1::Job& job = newest->job;
  if (HasEnded(job.state())) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      "the name `", name, "` is taken by job ", job.id(), ", which is ", EnumText(job.state()),
      "; stop it first (trainyard stop ", job.id(), ") or give this job another name"));
}

absl::Status CheckQueueCapacity(const ClusterState& state) {
  const std::size_t open = state.live_jobs.size() + state.pending_jobs.size() +
                           state.dependent_jobs.size() + state.paused_jobs.size() +
                           state.open_arrays.size();
  if (open < kMaxOpenJobs) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      open, " jobs have not ended, and at most ", kMaxOpenJobs,
      " are allowed; wait until some end (trainyard ps), or stop some (trainyard stop)"));
}

// Returns as soon as enough nodes are found, so that not all nodes of a large cluster are checked.
bool Fits(const ClusterState& state, const GangShape& shape, const NodeGroup& group) {
  int fitting = 0;
  for (const auto& [id, entry] : state.nodes) {
    if (!IsJoined(entry) || !CouldHold(entry.node, shape)) continue;
    if (group.Contains(id) && ++fitting == shape.nodes) return true;
  }
  return false;
}

bool FitsAny(const ClusterState& state, const v1::JobSpec& spec, const GangShape& shape) {
  return std::ranges::any_of(GroupsOf(state, spec, shape.kind),
                             [&](const NodeGroup& group) { return Fits(state, shape, group); });
}

// Returns true if the nodes of several kinds of device would suffice together.
bool NeedsOneDevice(const ClusterState& state, const GangShape& shape) {
  return Fits(state, shape, {.has_all = true});
}

// The error for a gang that fits the cluster, but not the nodes that `placement` allows.
absl::Status PlacementTooSmall(const ClusterState& state, const v1::JobSpec& spec,
                               const GangShape& shape, const std::string& needs) {
  const auto largest = LargestShape(state, shape.kind, spec);
  const std::string& level = spec.placement().within();
  constexpr std::size_t kNamed = 5;
  const std::vector<std::string> unknown = UnknownNames(state, spec, kNamed);
  return absl::FailedPreconditionError(absl::StrCat(
      needs, ", but `placement` allows ", AllowedNodesText(state, spec, shape.kind),
      level.empty() ? "" : absl::StrCat(" in groups of the level ", level),
      largest.has_value()
          ? absl::StrCat(", and the largest gang that fits these is ",
                         ShapeText(largest->nodes, largest->slots_per_node, largest->kind),
                         level.empty() ? "" : " in one group")
          : "",
      unknown.empty() ? "" : absl::StrCat("; no node is called ", absl::StrJoin(unknown, ", ")),
      "; change `placement`, or reduce resources.nodes or resources.slots_per_node"));
}

// Returns the shape with the most slots that the group can hold.
std::optional<GangShape> LargestShapeIn(const ClusterState& state, v1::DeviceKind kind,
                                        const NodeGroup& group) {
  std::vector<int> totals;
  for (const auto& [id, entry] : state.nodes) {
    const int total = TotalSlots(entry.node, kind);
    if (IsJoined(entry) && total > 0 && group.Contains(id)) totals.push_back(total);
  }
  std::ranges::sort(totals, std::greater<>());
  std::optional<GangShape> largest;
  for (int i = 0; i < static_cast<int>(totals.size()); ++i) {
    const GangShape shape{i + 1, totals[i], kind};
    const bool larger = !largest.has_value() || shape.nodes * shape.slots_per_node >
                                                    largest->nodes * largest->slots_per_node;
    if (larger) largest = shape;
  }
  return largest;
}

v1::DeviceKind OtherKind(v1::DeviceKind kind) {
  return kind == v1::DEVICE_KIND_GPU ? v1::DEVICE_KIND_CPU : v1::DEVICE_KIND_GPU;
}

std::string Needs(const GangShape& shape) {
  return absl::StrCat("the job needs ", GangText(shape));
}

// The error for a gang with enough slots, but not enough CPU cores or memory.
absl::Status HostTooSmall(const ClusterState& state, const v1::JobSpec& spec,
                          const GangShape& shape) {
  HostAmount most;
  for (const auto& [id, entry] : state.nodes) {
    const bool has_slots =
        IsJoined(entry) && TotalSlots(entry.node, shape.kind) >= shape.slots_per_node;
    if (!has_slots || !MayUse(spec, entry.node)) continue;
    const HostAmount host = HostOf(entry.node);
    most = {std::max(most.cpus, host.cpus), std::max(most.memory_bytes, host.memory_bytes)};
  }
  return absl::FailedPreconditionError(absl::StrCat(
      Needs(shape), ", which is ", HostText(shape.HostPerNode()),
      " per node, but too few nodes have that much; the largest nodes with enough slots have ",
      Counted(most.cpus, "CPU"), " and ", MemoryText(most.memory_bytes),
      " of memory; reduce resources.cpus_per_rank or resources.memory_per_rank"));
}

}  // namespace

std::optional<GangShape> LargestShape(const ClusterState& state, v1::DeviceKind kind,
                                      const v1::JobSpec& spec) {
  std::optional<GangShape> largest;
  for (const NodeGroup& group : GroupsOf(state, spec, kind)) {
    const auto shape = LargestShapeIn(state, kind, group);
    const bool larger =
        shape.has_value() && (!largest.has_value() || shape->nodes * shape->slots_per_node >
                                                          largest->nodes * largest->slots_per_node);
    if (larger) largest = shape;
  }
  return largest;
}

absl::Status CheckGangFits(const ClusterState& state, const v1::JobSpec& spec,
                           const GangShape& shape) {
  if (FitsAny(state, spec, shape)) return absl::OkStatus();
  GangShape slots_only = shape;
  slots_only.host = {};
  if (FitsAny(state, spec, slots_only)) return HostTooSmall(state, spec, shape);
  if (!PlacementKey(spec).empty() && FitsAny(state, v1::JobSpec::default_instance(), shape)) {
    return PlacementTooSmall(state, spec, shape, Needs(shape));
  }
  if (std::ranges::none_of(state.nodes, [](const auto& node) { return IsJoined(node.second); })) {
    return absl::FailedPreconditionError(
        absl::StrCat(Needs(shape),
                     ", but no worker is attached; start one with `trainyard-worker --controller "
                     "HOST:PORT --data-dir DIR` on each node"));
  }
  if (const auto largest = LargestShape(state, shape.kind)) {
    return absl::FailedPreconditionError(absl::StrCat(
        Needs(shape), ", but the largest gang that fits this cluster is ",
        ShapeText(largest->nodes, largest->slots_per_node, largest->kind),
        NeedsOneDevice(state, shape) ? ", because a gang uses one kind of device" : "",
        "; reduce resources.nodes or resources.slots_per_node, or attach more workers"));
  }
  const auto other = LargestShape(state, OtherKind(shape.kind));
  const std::string advice =
      other.has_value()
          ? absl::StrCat("; the cluster has ",
                         ShapeText(other->nodes, other->slots_per_node, other->kind),
                         "; set resources.device to ", KindName(other->kind), " to use them")
          : "; attach workers with such slots";
  return absl::FailedPreconditionError(absl::StrCat(Needs(shape), ", but this cluster has no ",
                                                    KindName(shape.kind), " slots", advice));
}

absl::Status CheckDirectoryIsFree(const ClusterState& state, const v1::JobSpec& spec) {
  if (spec.checkpoint().dir().empty()) return absl::OkStatus();
  const auto found = state.job_by_checkpoint_dir.find(CheckpointDirectory(spec));
  if (found == state.job_by_checkpoint_dir.end()) return absl::OkStatus();
  const v1::Job& job = state.jobs.at(found->second).job;
  return absl::AlreadyExistsError(absl::StrCat(
      "checkpoint.dir ", spec.checkpoint().dir(), " is in use by job ", job.id(), " (", job.name(),
      "), which is ", EnumText(job.state()), "; stop it first (trainyard stop ", job.id(),
      ") or give this job another checkpoint.dir"));
}

absl::Status CheckQueueExists(const ClusterState& state, const std::string& name) {
  if (QueueExists(state, name)) return absl::OkStatus();
  std::vector<std::string> names = {kDefaultQueue};
  for (const auto& [other, queue] : state.queues) {
    if (other != kDefaultQueue && names.size() < 20) names.push_back(other);
  }
  return absl::NotFoundError(absl::StrCat("no queue is called `", std::string(Utf8Prefix(name, 80)),
                                          "`; queues: ", absl::StrJoin(names, ", "),
                                          "; `trainyard queue set NAME` creates one"));
}

absl::Status CheckQueueHolds(const ClusterState& state, const std::string& name,
                             const v1::JobSpec& spec) {
  TRAINYARD_RETURN_IF_ERROR(CheckQueueExists(state, name));
  const GangRequest request = GangRequestOf(spec);
  const v1::SlotQuota quota = QuotaOf(QueueNamed(state, name), request.kind);
  const int64_t slots = int64_t{request.Least().nodes} * request.slots_per_node;
  for (const int limit : {quota.max_slots(), quota.max_slots_per_user()}) {
    if (limit == 0 || slots <= limit) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "the job requests ", slots, " ", KindName(request.kind), " slots, but the queue ", name,
        limit == quota.max_slots() ? " may hold " : " gives a user at most ", limit,
        "; choose another `queue`, or request fewer slots"));
  }
  return absl::OkStatus();
}

// Checks that the topology has the level that the job names.
absl::Status CheckLevel(const ClusterState& state, const v1::JobSpec& spec) {
  const std::string& level = spec.placement().within();
  const TopologyIndex* topology = state.topology_index.get();
  if (level.empty() || (topology != nullptr && topology->HasLevel(level))) return absl::OkStatus();
  if (topology == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "`placement.within` is ", level,
        ", but this cluster has no topology; remove it, or run `trainyard topology set FILE`"));
  }
  return absl::FailedPreconditionError(absl::StrCat("`placement.within` is ", level,
                                                    ", but the topology has only the levels ",
                                                    absl::StrJoin(topology->levels(), ", ")));
}

absl::Status Admit(const ClusterState& state, const v1::JobSpec& spec) {
  TRAINYARD_RETURN_IF_ERROR(CheckQueueCapacity(state));
  TRAINYARD_RETURN_IF_ERROR(CheckName(state, spec.name()));
  TRAINYARD_RETURN_IF_ERROR(CheckDirectoryIsFree(state, spec));
  TRAINYARD_RETURN_IF_ERROR(
      CheckQueueHolds(state, spec.queue().empty() ? kDefaultQueue : spec.queue(), spec));
  TRAINYARD_RETURN_IF_ERROR(CheckLevel(state, spec));
  const GangRequest request = GangRequestOf(spec);
  const absl::Status fits = CheckGangFits(state, spec, request.Least());
  const int spares = request.Spares();
  if (fits.ok() || spares == 0) return fits;
  return absl::Status(fits.code(),
                      absl::StrCat(fits.message(), "; the requested nodes include ",
                                   Counted(spares, "spare node"), " (restart.spares)"));
}

}  // namespace trainyard::controller
