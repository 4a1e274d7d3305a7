#include "controller/core/observations/root_sightings.h"

#include <algorithm>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/support/text.h"
#include "proto/files/normal_path.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kNodesNamed = 5;

void Note(const std::string& node_id, const v1::CheckpointRoot& root, RootSightings& roots) {
  if (root.path().empty() || root.path() != roots.path) return;
  ForgetRoot(node_id, roots);
  roots.by_node[node_id] = root;
  roots.nodes_by_nonce[root.nonce()].insert(node_id);
}

// Returns the nonces of the shared directories, in descending order of the number of nodes that
// share them.
std::vector<std::string> NoncesBySize(const RootSightings& roots) {
  std::vector<std::string> nonces;
  for (const auto& [nonce, nodes] : roots.nodes_by_nonce) {
    if (!nonce.empty()) nonces.push_back(nonce);
  }
  std::ranges::stable_sort(nonces, std::greater<>(), [&](const std::string& nonce) {
    return roots.nodes_by_nonce.at(nonce).size();
  });
  return nonces;
}

// Returns the nonce of the directory that is probably intended. If any node reads the controller's
// nonce, returns that nonce. Otherwise returns the nonce that most nodes read, or "" if there is a
// tie.
std::string ReferenceNonce(const RootSightings& roots) {
  if (roots.nodes_by_nonce.contains(roots.controllers_nonce)) return roots.controllers_nonce;
  const std::vector<std::string> nonces = NoncesBySize(roots);
  if (nonces.empty()) return "";
  const auto size = [&](std::size_t i) { return roots.nodes_by_nonce.at(nonces[i]).size(); };
  return nonces.size() > 1 && size(0) == size(1) ? "" : nonces[0];
}

// Returns the sorted names of the nodes that are not lost.
std::vector<std::string> NamesOf(const ClusterState& state, const std::set<std::string>& ids) {
  std::vector<std::string> names;
  for (const std::string& id : ids) {
    const auto node = state.nodes.find(id);
    const bool is_here =
        node != state.nodes.end() && node->second.node.state() != v1::NODE_STATE_LOST;
    if (is_here) names.push_back(node->second.node.name());
  }
  std::ranges::sort(names);
  return names;
}

// Returns "a", "a and b", or "a, b and 7 more nodes".
std::string Listed(std::vector<std::string> names) {
  if (names.size() > kNodesNamed) {
    const std::size_t more = names.size() - kNodesNamed + 1;
    names.resize(kNodesNamed - 1);
    names.push_back(absl::StrCat(more, " more nodes"));
  }
  if (names.size() == 1) return names[0];
  const std::string last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

const std::set<std::string>& NodesWithoutRoot(const RootSightings& roots) {
  static const std::set<std::string> kNone;
  const auto found = roots.nodes_by_nonce.find("");
  return found == roots.nodes_by_nonce.end() ? kNone : found->second;
}

std::set<std::string> AwaitedNodes(const RootSightings& roots) {
  std::set<std::string> ids;
  for (const auto& [id, until] : roots.awaited) ids.insert(id);
  return ids;
}

bool AllShare(const RootSightings& roots) {
  return roots.nodes_by_nonce.size() <= 1 && NodesWithoutRoot(roots).empty();
}

}  // namespace

void NoteRoot(const std::string& node_id, const v1::Hello& hello, Timestamp now,
              RootSightings& roots) {
  if (!hello.has_checkpoint_root()) {
    // Forget what the node's earlier worker reported, because that report is out of date. A worker
    // of an older release reports no root.
    ForgetRoot(node_id, roots);
    roots.awaited.erase(node_id);
    return;
  }
  Note(node_id, hello.checkpoint_root(), roots);
  if (!roots.by_node.contains(node_id)) roots.awaited[node_id] = now + kFirstRootReportMs;
}

void NoteRoot(const std::string& node_id, const v1::Heartbeat& heartbeat, Timestamp now,
              RootSightings& roots) {
  if (heartbeat.has_checkpoint_root()) Note(node_id, heartbeat.checkpoint_root(), roots);
  const auto awaited = roots.awaited.find(node_id);
  if (awaited == roots.awaited.end()) return;
  const bool is_late = now >= awaited->second || now < awaited->second - kFirstRootReportMs;
  if (roots.by_node.contains(node_id) || is_late) roots.awaited.erase(awaited);
}

void ForgetRoot(const std::string& node_id, RootSightings& roots) {
  const auto known = roots.by_node.find(node_id);
  if (known == roots.by_node.end()) return;
  const auto nodes = roots.nodes_by_nonce.find(known->second.nonce());
  nodes->second.erase(node_id);
  if (nodes->second.empty()) roots.nodes_by_nonce.erase(nodes);
  roots.by_node.erase(known);
}

bool SavesInRoot(const v1::JobSpec& spec, const RootSightings& roots) {
  if (roots.path.empty() || spec.evaluation().only() || !ProgramRulesOf(spec).saves) return false;
  // The directory of a job without checkpoint.dir is below the root.
  if (spec.checkpoint().dir().empty()) return true;
  return absl::StartsWith(absl::StrCat(CheckpointDirectory(spec), "/"),
                          absl::StrCat(NormalPath(roots.path), "/"));
}

bool NeedsSharedRoot(const v1::JobSpec& spec, int nodes, const RootSightings& roots) {
  if (nodes < 2 || (AllShare(roots) && roots.awaited.empty())) return false;
  return SavesInRoot(spec, roots);
}

std::vector<std::set<std::string>> NodesOutsideOfRoots(const RootSightings& roots) {
  std::set<std::string> out = AwaitedNodes(roots);
  out.insert(NodesWithoutRoot(roots).begin(), NodesWithoutRoot(roots).end());
  const std::vector<std::string> nonces = NoncesBySize(roots);
  if (nonces.empty()) return {out};
  std::vector<std::set<std::string>> sets;
  for (const std::string& nonce : nonces) {
    std::set<std::string>& outside = sets.emplace_back(out);
    for (const auto& [other, nodes] : roots.nodes_by_nonce) {
      if (other != nonce) outside.insert(nodes.begin(), nodes.end());
    }
  }
  return sets;
}

std::string RootDifferences(const ClusterState& state, const RootSightings& roots) {
  std::vector<std::string> parts;
  for (const std::string& nonce : NoncesBySize(roots)) {
    const std::vector<std::string> names = NamesOf(state, roots.nodes_by_nonce.at(nonce));
    if (names.empty()) continue;
    const std::string which =
        parts.empty() ? absl::StrCat("one directory at ", roots.path) : "another directory";
    parts.push_back(absl::StrCat(Listed(names), names.size() == 1 ? " sees " : " share ", which));
  }
  const std::size_t directories = parts.size();
  std::size_t named = 0;
  for (const std::string& id : NodesWithoutRoot(roots)) {
    if (NamesOf(state, {id}).empty() || ++named > kNodesNamed) continue;
    parts.push_back(absl::StrCat(NodeName(state, id), " sees no directory at ", roots.path, ": ",
                                 roots.by_node.at(id).problem()));
  }
  if (named > kNodesNamed) {
    parts.push_back(
        absl::StrCat(named - kNodesNamed, " other nodes see no directory at that path"));
  }
  const std::vector<std::string> awaited = NamesOf(state, AwaitedNodes(roots));
  if (!awaited.empty()) {
    parts.push_back(absl::StrCat(Listed(awaited), awaited.size() == 1 ? " has" : " have",
                                 " not reported a directory yet"));
  }
  const bool all_share = directories <= 1 && named == 0 && awaited.empty();
  return all_share ? "" : absl::StrJoin(parts, ", ");
}

std::string RootAdvice(const RootSightings& roots) {
  return absl::StrCat("mount the same storage at ", roots.path,
                      " on every node (`trainyard doctor` shows the directory of each node), or "
                      "set checkpoint.dir to a "
                      "directory that the job's nodes share");
}

std::string RootWarning(const ClusterState& state, const v1::JobSpec& spec,
                        const RootSightings& roots) {
  const bool saves = GangRequestOf(spec).max_nodes == 1 && SavesInRoot(spec, roots);
  if (AllShare(roots) || !saves) return "";
  const std::string differences = RootDifferences(state, roots);
  if (differences.empty()) return "";
  return absl::StrCat(
      "a later attempt on another node may not find the job's checkpoints, because ", differences,
      "; ", RootAdvice(roots));
}

v1::NodeCheck RootCheck(const ClusterState& state, const std::string& node_id,
                        const RootSightings& roots) {
  v1::NodeCheck check;
  const auto known = roots.by_node.find(node_id);
  if (known == roots.by_node.end()) return check;
  const v1::CheckpointRoot& root = known->second;
  const std::string reference = ReferenceNonce(roots);
  check.set_name("shared checkpoints");
  check.set_ok(!root.nonce().empty() && (root.nonce() == reference || AllShare(roots)));
  if (root.nonce().empty()) {
    check.set_found(absl::StrCat(root.path(), ": ", root.problem()));
  } else if (check.ok()) {
    check.set_found(absl::StrCat(
        root.path(), ": the same directory on ",
        Counted(static_cast<int64_t>(roots.nodes_by_nonce.at(root.nonce()).size()), "node")));
  } else {
    check.set_found(absl::StrCat(root.path(),
                                 ": this is not the directory that the other nodes see; ",
                                 RootDifferences(state, roots)));
  }
  if (!check.ok()) check.set_advice(RootAdvice(roots));
  return check;
}

}  // namespace trainyard::controller
