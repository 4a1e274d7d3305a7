// A gang runs only on nodes that `placement` of its job allows, and on one kind of device. If
// `placement` requires it, the nodes are in one leaf of the topology. The rules are restated here
// for the settings that the simulated users write.
#include <map>
#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class PlacementIsKeptChecker : public Checker {
 public:
  const char* Name() const override { return "placement is kept"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_node_joined()) {
        nodes_[event.node_joined().node().id()] = event.node_joined().node();
      } else if (event.has_job_submitted()) {
        placements_[event.job_submitted().job_id()] = event.job_submitted().spec().placement();
      } else if (event.has_topology_set()) {
        NoteLeaves(event.topology_set().topology());
      } else if (event.has_job_placed()) {
        std::string violation = CheckPlaced(event.job_placed());
        if (!violation.empty()) return violation;
      }
    }
    return "";
  }

 private:
  std::string CheckPlaced(const v1::JobPlaced& placed) const {
    std::set<std::string> models, leaves;
    for (const v1::RankPlacement& rank : placed.ranks()) {
      const v1::Node& node = nodes_.at(rank.node_id());
      const auto leaf = leaf_of_.find(node.name());
      leaves.insert(leaf == leaf_of_.end() ? absl::StrCat("only ", node.name()) : leaf->second);
      for (const v1::Slot& slot : node.inventory().slots()) models.insert(slot.model());
      const std::string why = WhyNot(placements_.at(placed.job_id()), node);
      if (!why.empty()) {
        return absl::StrCat("job ", placed.job_id(), " was placed on ", node.name(), ", ", why);
      }
    }
    if (!placements_.at(placed.job_id()).within().empty() && leaves.size() != 1) {
      return absl::StrCat("job ", placed.job_id(), " is in ", leaves.size(), " leaves");
    }
    if (models.size() == 1) return "";
    return absl::StrCat("job ", placed.job_id(), " has ", models.size(), " kinds of device");
  }

  void NoteLeaves(const v1::Topology& topology) {
    leaf_of_.clear();
    for (const v1::TopologyGroup& group : topology.groups()) {
      for (const std::string& node : group.nodes()) leaf_of_[node] = group.name();
    }
  }

  static std::string WhyNot(const v1::PlacementSpec& placement, const v1::Node& node) {
    if (absl::c_linear_search(placement.exclude(), node.name())) return "which it excludes";
    if (placement.nodes_size() > 0 && !absl::c_linear_search(placement.nodes(), node.name())) {
      return "which it does not name";
    }
    for (const auto& [name, value] : placement.labels()) {
      const auto label = node.labels().find(name);
      if (label == node.labels().end() || label->second != value) {
        return absl::StrCat("which lacks the label ", name);
      }
    }
    return "";
  }

  std::map<std::string, v1::Node> nodes_;
  std::map<int64_t, v1::PlacementSpec> placements_;
  std::map<std::string, std::string> leaf_of_;  // By the name of the node.
};

}  // namespace

std::unique_ptr<Checker> PlacementIsKept() { return std::make_unique<PlacementIsKeptChecker>(); }

}  // namespace trainyard::simulation
