// A node counts as drained only if no process of a job runs on it. No process starts there until
// the node is uncordoned. An attempt yields to a drain only if it was placed on a draining node, or
// on a node of a reservation that drains its nodes and has begun.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class DrainsEmptyNodesChecker : public Checker {
 public:
  const char* Name() const override { return "drains empty nodes"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (std::string wrong = CheckEvent(step.log[i]); !wrong.empty()) return wrong;
    }
    if (drained_.empty()) return "";
    for (const auto& [key, process] : step.world.processes()) {
      if (!drained_.contains(process.node_id) || !HoldsSlot(process)) continue;
      return absl::StrCat("rank ", process.rank, " of job ", process.attempt.job_id, " runs on ",
                          process.node_id, ", which is drained");
    }
    return "";
  }

 private:
  std::string CheckEvent(const v1::Event& event) {
    if (event.has_job_placed()) Place(event.job_placed());
    if (event.has_nodes_reserved()) {
      const v1::NodeReservation& reservation = event.nodes_reserved().reservation();
      reservations_[reservation.name()] = reservation;
    }
    reservations_.erase(event.reservation_ended().name());
    if (event.has_node_draining()) draining_.insert(event.node_draining().node_id());
    if (event.has_node_drained()) drained_.insert(event.node_drained().node_id());
    if (event.has_node_uncordoned()) {
      draining_.erase(event.node_uncordoned().node_id());
      drained_.erase(event.node_uncordoned().node_id());
    }
    const v1::AttemptYielded& yielded = event.attempt_yielded();
    if (yielded.yield().cause() != v1::YIELD_CAUSE_DRAIN) return "";
    const std::set<std::string>& nodes = nodes_[yielded.job_id()];
    const bool is_on_draining_node = std::ranges::any_of(
        nodes, [&](const std::string& node_id) { return draining_.contains(node_id); });
    if (is_on_draining_node || IsOnReservedNode(nodes, event.time_ms())) return "";
    return absl::StrCat("job ", yielded.job_id(),
                        " left its slots, but none of its nodes is drained");
  }

  // The simulated users name nodes by their ids.
  bool IsOnReservedNode(const std::set<std::string>& nodes, Timestamp now) const {
    return std::ranges::any_of(reservations_, [&](const auto& item) {
      const v1::NodeReservation& reservation = item.second;
      return reservation.drain() && reservation.start_ms() <= now &&
             nodes.contains(reservation.nodes(0));
    });
  }

  void Place(const v1::JobPlaced& placed) {
    std::set<std::string>& nodes = nodes_[placed.job_id()];
    nodes.clear();
    for (const v1::RankPlacement& rank : placed.ranks()) nodes.insert(rank.node_id());
  }

  std::set<std::string> draining_;
  std::set<std::string> drained_;
  std::map<std::string, v1::NodeReservation> reservations_;
  // The nodes of each job's newest attempt.
  std::map<int64_t, std::set<std::string>> nodes_;
};

}  // namespace

std::unique_ptr<Checker> DrainsEmptyNodes() { return std::make_unique<DrainsEmptyNodesChecker>(); }

}  // namespace trainyard::simulation
