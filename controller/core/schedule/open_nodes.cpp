#include "controller/core/schedule/open_nodes.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "controller/core/observations/root_sightings.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/state/slots/class_of_job.h"

namespace trainyard::controller {
namespace {

// Returns the CPU cores and memory of the node that are free or belong to the attempt.
HostAmount HostFor(const NodeEntry& node, const AttemptKey& attempt) {
  HostAmount amount = node.free_host;
  for (const SlotHolder& holder : node.holders) {
    if (holder.attempt == attempt) amount = amount + holder.host;
  }
  return amount;
}

// Returns the number of the node's slots that are free or belong to the attempt.
int SlotsFor(const NodeEntry& node, const AttemptKey& attempt, v1::DeviceKind kind) {
  int count = 0;
  for (int i = 0; i < node.node.inventory().slots_size(); ++i) {
    const v1::SlotUse& use = node.node.slot_uses(i);
    const bool usable = use.job_id() == 0 || HolderOf(use) == attempt;
    if (usable && node.node.inventory().slots(i).kind() == kind) ++count;
  }
  return count;
}

}  // namespace

int CountOpenNodesFor(const ClusterState& state, const NodeLimits& limits, const JobEntry& entry,
                      int nodes) {
  const GangRequest request = GangRequestOf(entry.job.spec());
  const AttemptKey attempt{entry.job.id(), LiveAttempt(entry)->number()};
  const ReservedNodes reservations(state, limits.now);
  const std::set<std::string>* reserved =
      reservations.empty() ? nullptr : reservations.ClosedFor(ClassOf(entry.job));
  const HostAmount host = request.ShapeOn(nodes).HostPerNode();
  const auto count = [&](const std::set<std::string>& barred, const NodeGroup& group) {
    return static_cast<int>(std::ranges::count_if(state.nodes, [&](const auto& node) {
      const auto& [id, candidate] = node;
      return TakesRanks(candidate.node) && !limits.changing.contains(id) &&
             !limits.closed.contains(id) && !barred.contains(id) && group.Contains(id) &&
             (reserved == nullptr || !reserved->contains(id)) &&
             SlotsFor(candidate, attempt, request.kind) >= request.slots_per_node &&
             (host.IsZero() || HostFor(candidate, attempt).Covers(host));
    }));
  };
  const RootSightings* roots = limits.roots;
  const bool shares = roots != nullptr && NeedsSharedRoot(entry.job.spec(), nodes, *roots);
  std::vector<std::set<std::string>> barred_sets = {{}};
  if (shares) barred_sets = NodesOutsideOfRoots(*roots);
  int most = 0;
  for (const NodeGroup& group : GroupsOf(state, entry.job.spec(), request.kind)) {
    for (const auto& barred : barred_sets) most = std::max(most, count(barred, group));
  }
  return most;
}

}  // namespace trainyard::controller
