// No two processes run on one slot, and each taken slot has one owner. Only recovering jobs have
// reservations. No two live attempts use the same rendezvous address.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/state/slots/reservations.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class NoSlotDoubleBookedChecker : public Checker {
 public:
  const char* Name() const override { return "no slot double booked"; }

  std::string Check(const Step& step) override {
    if (std::string wrong = CheckProcesses(step.world); !wrong.empty()) return wrong;
    if (step.first_new == step.log.size()) return "";
    for (const auto check : {CheckState, CheckHolders, CheckReservations}) {
      if (std::string wrong = check(step.state); !wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  static std::string CheckProcesses(const TrainingWorld& world) {
    std::map<std::pair<std::string, int>, AttemptKey> holders;
    for (const auto& [key, process] : world.processes()) {
      if (!HoldsSlot(process)) continue;
      for (const int slot : process.slots) {
        const auto [holder, is_free] =
            holders.emplace(std::make_pair(process.node_id, slot), process.attempt);
        if (is_free) continue;
        return absl::StrCat("slot ", slot, " of ", process.node_id, " runs ranks of ",
                            holder->second.job_id, "/", holder->second.number, " and ",
                            process.attempt.job_id, "/", process.attempt.number);
      }
    }
    return "";
  }

  // Checks that every rank of a live attempt owns its slot.
  static std::string CheckState(const controller::ClusterState& state) {
    std::set<std::pair<std::string, int>> rendezvous;
    for (const auto& [id, entry] : state.jobs) {
      const v1::Attempt* live = LiveAttempt(entry);
      if (live == nullptr) continue;
      if (!rendezvous.emplace(live->master_address(), live->master_port()).second) {
        return absl::StrCat("the rendezvous of job ", id, " is another job's, too");
      }
      for (const v1::RankPlacement& rank : live->ranks()) {
        // After a heal has replaced a node and the node is cleared, other jobs can use the node.
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

  // Checks that each taken slot belongs to a live attempt, to a reservation, or to an uncleared
  // attempt.
  static std::string CheckHolders(const controller::ClusterState& state) {
    for (const auto& [node_id, node] : state.nodes) {
      for (int i = 0; i < node.node.slot_uses_size(); ++i) {
        const v1::SlotUse& use = node.node.slot_uses(i);
        if (use.job_id() == 0) continue;
        const controller::JobEntry* job = FindEntry(state, use.job_id());
        const v1::Attempt* live = job == nullptr ? nullptr : LiveAttempt(*job);
        const int holders = (live != nullptr && live->number() == use.attempt() ? 1 : 0) +
                            (FindReservation(state, node, i) != nullptr ? 1 : 0) +
                            (node.uncleared.contains(controller::HolderOf(use)) ? 1 : 0);
        if (holders == 1) continue;
        return absl::StrCat("slot ", i, " of ", node_id, ", shown as used by job ", use.job_id(),
                            ", has ", holders, " holders");
      }
    }
    return "";
  }

  static std::string CheckReservations(const controller::ClusterState& state) {
    for (const auto& [id, reservation] : state.reservations) {
      const controller::JobEntry* job = FindEntry(state, id);
      const bool recovers = job != nullptr && job->job.state() == v1::JOB_STATE_RECOVERING &&
                            LiveAttempt(*job) == nullptr;
      if (!recovers || reservation.attempt != AttemptKey{id, NewestAttempt(*job)->number()}) {
        return absl::StrCat("job ", id, " has a reservation but does not recover");
      }
      for (const auto& [node_id, slots] : reservation.slots) {
        for (const int slot : slots) {
          const v1::SlotUse& use = state.nodes.at(node_id).node.slot_uses(slot);
          if (controller::HolderOf(use) == reservation.attempt) continue;
          return absl::StrCat("slot ", slot, " of ", node_id, " is reserved for job ", id,
                              " but shown as used by job ", use.job_id());
        }
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
