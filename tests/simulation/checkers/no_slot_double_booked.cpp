// No two processes run on one slot, the state agrees with itself about who holds which slot, and no
// two live attempts share a rendezvous.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class NoSlotDoubleBookedChecker : public Checker {
 public:
  const char* Name() const override { return "no slot double booked"; }

  std::string Check(const Step& step) override {
    if (std::string wrong = CheckProcesses(step.world); !wrong.empty()) return wrong;
    return step.first_new < step.log.size() ? CheckState(step.state) : "";
  }

 private:
  static std::string CheckProcesses(const TrainingWorld& world) {
    std::map<std::pair<std::string, int>, AttemptKey> holders;
    for (const auto& [key, process] : world.processes()) {
      if (!HoldsSlot(process)) continue;
      const auto [holder, is_free] =
          holders.emplace(std::make_pair(process.node_id, process.slot), process.attempt);
      if (is_free) continue;
      return absl::StrCat("slot ", process.slot, " of ", process.node_id, " runs ranks of ",
                          holder->second.job_id, "/", holder->second.number, " and ",
                          process.attempt.job_id, "/", process.attempt.number);
    }
    return "";
  }

  // Every rank of a live attempt holds its slot.
  static std::string CheckState(const controller::ClusterState& state) {
    std::set<std::pair<std::string, int>> rendezvous;
    for (const auto& [id, entry] : state.jobs) {
      const v1::Attempt* live = LiveAttempt(entry);
      if (live == nullptr) continue;
      if (!rendezvous.emplace(live->master_address(), live->master_port()).second) {
        return absl::StrCat("the rendezvous of job ", id, " is another job's, too");
      }
      for (const v1::RankPlacement& rank : live->ranks()) {
        // A node that a heal has swapped out is free for others once it is cleared.
        if (rank.replaced() && entry.cleared_nodes.contains(rank.node_id())) continue;
        const v1::SlotUse& use = state.nodes.at(rank.node_id()).node.slot_uses(rank.slot());
        if (use.job_id() == id && use.attempt() == live->number() && use.rank() == rank.rank()) {
          continue;
        }
        return absl::StrCat("rank ", rank.rank(), " of job ", id, " does not hold its slot");
      }
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Checker> NoSlotDoubleBooked() {
  return std::make_unique<NoSlotDoubleBookedChecker>();
}

}  // namespace trainyard::simulation
