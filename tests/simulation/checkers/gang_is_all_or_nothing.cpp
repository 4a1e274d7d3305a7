// A placement gives every rank of the gang a slot. The nodes are distinct and ready, and each
// provides the same number of slots.
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class GangIsAllOrNothingChecker : public Checker {
 public:
  const char* Name() const override { return "gang is all or nothing"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      Learn(step.log[i]);
      if (!step.log[i].has_job_placed()) continue;
      if (std::string wrong = CheckPlacement(step, step.log[i].job_placed()); !wrong.empty()) {
        return wrong;
      }
    }
    return "";
  }

 private:
  void Learn(const v1::Event& event) {
    if (event.has_node_joined()) ready_.insert(event.node_joined().node().id());
    if (event.has_node_returned()) ready_.insert(event.node_returned().node_id());
    if (event.has_node_suspected()) ready_.erase(event.node_suspected().node_id());
    if (event.has_node_lost()) ready_.erase(event.node_lost().node_id());
  }

  // Checks that a granted layout has the gang's number of ranks and the job's batch.
  static std::string CheckLayout(const Step& step, const v1::JobPlaced& placed) {
    const v1::JobSpec& spec = step.state.jobs.at(placed.job_id()).job.spec();
    const bool has_sizes = spec.auto_layout() || IsElastic(spec);
    if (has_sizes != placed.has_layout()) return "a layout too many, or none";
    if (!placed.has_layout() || !RunsOurTrainer(spec)) return "";
    const v1::LayoutSpec& layout = placed.layout().layout();
    if (layout.tp() * layout.cp() * layout.pp() * layout.dp() != placed.ranks_size()) {
      return "the layout has another number of ranks";
    }
    const int64_t samples = layout.dp() * layout.micro_batch() * placed.layout().micro_batches();
    return samples == spec.train().global_batch() ? "" : "the layout has another batch";
  }

  // Checks that spare nodes come last. Only a recovering job may continue with fewer spare nodes.
  static std::string CheckSpares(const Step& step, const v1::JobPlaced& placed, int nodes,
                                 std::size_t placed_nodes) {
    const v1::JobSpec& spec = step.state.jobs.at(placed.job_id()).job.spec();
    const int spares = static_cast<int>(placed_nodes) - nodes;
    const int wanted = spec.restart().spares();
    if (spares < 0 || spares > wanted) return "wrong number of nodes";
    if (placed.attempt() == 1 && spares < wanted) return "a spare node is missing";
    const int ranks = nodes * spec.resources().slots_per_node();
    for (const v1::RankPlacement& rank : placed.ranks()) {
      if (rank.standby() != (rank.rank() >= ranks)) return "a standby in the gang";
    }
    return "";
  }

  std::string CheckPlacement(const Step& step, const v1::JobPlaced& placed) const {
    const v1::ResourcesSpec& needs = step.state.jobs.at(placed.job_id()).job.spec().resources();
    std::map<std::string, std::set<int>> slots;
    for (int i = 0; i < placed.ranks_size(); ++i) {
      const v1::RankPlacement& rank = placed.ranks(i);
      if (rank.rank() != i) return absl::StrCat("rank ", i, " is missing");
      if (!slots[rank.node_id()].insert(rank.slot()).second) return "a slot is used twice";
      if (!ready_.contains(rank.node_id())) return absl::StrCat(rank.node_id(), " is not ready");
      if (rank.node_id() != placed.ranks(i - rank.local_rank()).node_id()) {
        return "ranks are not node-major";
      }
    }
    const int nodes = placed.has_layout() ? placed.layout().nodes() : needs.nodes();
    if (std::string wrong = CheckSpares(step, placed, nodes, slots.size()); !wrong.empty()) {
      return wrong;
    }
    if (std::string wrong = CheckLayout(step, placed); !wrong.empty()) return wrong;
    for (const auto& [node_id, used] : slots) {
      if (static_cast<int>(used.size()) != needs.slots_per_node()) {
        return absl::StrCat("wrong number of slots on ", node_id);
      }
    }
    return "";
  }

  std::set<std::string> ready_;
};

}  // namespace

std::unique_ptr<Checker> GangIsAllOrNothing() {
  return std::make_unique<GangIsAllOrNothingChecker>();
}

}  // namespace trainyard::simulation
