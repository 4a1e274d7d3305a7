#include "controller/core/schedule/promised_heads.h"

#include <algorithm>
#include <utility>

#include "controller/core/schedule/host_releases.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/slots/class_of_job.h"

namespace trainyard::controller {
namespace {

// Returns the slots that a recovering job keeps on nodes.
std::map<std::string, int, std::less<>> KeptSlots(const ClusterState& state, int64_t job_id) {
  std::map<std::string, int, std::less<>> kept;
  const auto found = state.reservations.find(job_id);
  if (found == state.reservations.end()) return kept;
  for (const auto& [id, slots] : found->second.slots) kept[id] = static_cast<int>(slots.size());
  return kept;
}

}  // namespace

Timestamp PromisedHeads::Add(const JobEntry& entry, Releases releases,
                             const std::vector<NodeGroup>& groups) {
  const GangShape shape = LeastShape(entry);
  const std::vector<NodeGroup> usable = GroupsWithLayout(entry, shape, groups);
  classes_.push_back(ClassOf(entry.job));
  Timestamp planned = kNever;
  if (most_ > 1) {
    const Timestamp end = std::min(LatestEnd(classes_.back(), now_), now_ + kUnknownRunMs);
    planned = plan_.Add({.shape = shape,
                         .hold_ms = end - now_,
                         .kept = KeptSlots(state_, entry.job.id()),
                         .releases = releases,
                         .groups = usable});
  }
  if (first_.has_value()) return planned;
  shape_ = shape;
  first_.emplace(shape, state_.reservations.contains(entry.job.id()), std::move(releases), usable);
  return first_->promised();
}

bool PromisedHeads::Allows(const Gang& gang, const JobEntry& job, Timestamp end) const {
  const bool allowed = shape_.host.IsZero() ? first_->Allows(gang, end)
                                            : first_->Allows(InSeats(gang, job, shape_), end);
  if (!allowed || plan_.size() <= 1) return allowed;
  return plan_.Allows({gang, GangRequestOf(job.job.spec()).host, end});
}

std::set<std::string> PromisedHeads::NodesNotToTake(const JobEntry& job, const NodeGroup& group,
                                                    Timestamp end) const {
  const GangShape shape = LeastShape(job);
  std::set<std::string> nodes;
  if (first_->promised() == kNever || end > first_->promised()) {
    const int seats = SeatsTaken(shape.slots_per_node, shape.host, shape_);
    nodes = first_->NodesNotToTake(seats, group, now_);
  }
  if (plan_.size() > 1) nodes.merge(plan_.NodesNotToTake(shape.slots_per_node, shape.host, end));
  return nodes;
}

void PromisedHeads::Take(const Gang& gang, const JobEntry& job, Timestamp end) {
  first_->Take(InSeats(gang, job, shape_), end);
  if (plan_.size() > 0) plan_.Take({gang, GangRequestOf(job.job.spec()).host, end});
}

}  // namespace trainyard::controller
