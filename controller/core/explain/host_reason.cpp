#include "controller/core/explain/host_reason.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/nodes/node_groups.h"
#include "controller/core/support/text.h"

namespace trainyard::controller {
namespace {

// The node that has most of a resource.
struct Most {
  const NodeEntry* node = nullptr;
  int64_t amount = 0;

  void Consider(const NodeEntry& entry, int64_t free) {
    if (node != nullptr && free <= amount) return;
    node = &entry;
    amount = free;
  }
  std::string On() const { return absl::StrCat(" on ", node->node.name()); }
};

}  // namespace

std::string HostShortageText(const ClusterState& state, const v1::JobSpec& spec,
                             const GangShape& shape) {
  if (shape.host.IsZero()) return "";
  const HostAmount needed = shape.HostPerNode();
  Most cpus, memory;
  bool any_lacks = false;
  for (const auto& [id, entry] : state.nodes) {
    const v1::Node& node = entry.node;
    const bool has_slots = TakesRanks(node) && FreeSlots(node, shape.kind) >= shape.slots_per_node;
    if (!has_slots || !MayUse(spec, node)) continue;
    any_lacks = any_lacks || !entry.free_host.Covers(needed);
    cpus.Consider(entry, std::max<int64_t>(0, entry.free_host.cpus));
    memory.Consider(entry, std::max<int64_t>(0, entry.free_host.memory_bytes));
  }
  if (!any_lacks) return "";
  std::string most;
  if (needed.cpus > 0) most = absl::StrCat(Counted(cpus.amount, "CPU"), cpus.On());
  if (needed.memory_bytes > 0) {
    absl::StrAppend(&most, most.empty() ? "" : " and ", MemoryText(memory.amount), " of memory",
                    memory.On());
  }
  return absl::StrCat("; all ranks of a node request ", HostText(needed),
                      ", and the most that nodes with enough free slots have unrequested is ",
                      most);
}

}  // namespace trainyard::controller
