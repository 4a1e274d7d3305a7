#include "controller/core/schedule/size_change.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/support/text.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kLostNodesNamed = 3;

// Returns, for example, "nodes gpu07, gpu08 are lost". Empty if no node of the attempt is lost.
std::string LostNodesText(const ClusterState& state, const v1::Attempt& before) {
  std::vector<std::string> names;
  for (const std::string& node_id : GangNodes(before)) {
    const auto node = state.nodes.find(node_id);
    const bool lost = node == state.nodes.end() || node->second.node.state() == v1::NODE_STATE_LOST;
    if (lost) names.push_back(NodeName(state, node_id));
  }
  if (names.empty()) return "";
  if (names.size() > kLostNodesNamed) {
    return absl::StrCat(Counted(static_cast<int64_t>(names.size()), "node"), " are lost");
  }
  return absl::StrCat(names.size() == 1 ? "node " : "nodes ", absl::StrJoin(names, ", "),
                      names.size() == 1 ? " is lost" : " are lost");
}

std::string CauseOfChange(const ClusterState& state, const v1::Attempt& before, bool shrinks) {
  if (!before.yield().kept_nodes().empty()) return before.yield().reason();
  if (!shrinks) return "more nodes are free";
  const std::string lost = LostNodesText(state, before);
  return lost.empty() ? "no more nodes are free" : lost;
}

}  // namespace

std::string SizeChangeText(const ClusterState& state, const JobEntry& entry, const Gang& gang) {
  const v1::Attempt* before = NewestAttempt(entry);
  if (before == nullptr || !GangRequestOf(entry.job.spec()).elastic) return "";
  // The number of nodes is stored even for attempts whose ranks are no longer stored.
  const int old_nodes = before->layout().nodes();
  const int nodes = static_cast<int>(gang.size());
  if (old_nodes == 0 || old_nodes == nodes) return "";
  const bool shrinks = nodes < old_nodes;
  return absl::StrCat(shrinks ? "shrunk" : "grown", " from ", old_nodes, " to ",
                      Counted(nodes, "node"), ": ", CauseOfChange(state, *before, shrinks));
}

}  // namespace trainyard::controller
