// A node is quarantined only after a fault that affected it: lost contact to its peers, a lost
// machine, lost records, or a device error. Faults of the controller, its network or programs
// quarantine no node.
#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class QuarantineIsJustChecker : public Checker {
 public:
  const char* Name() const override { return "quarantine is just"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::NodeUnhealthy& unhealthy = step.log[i].node_unhealthy();
      const bool is_quarantine =
          step.log[i].has_node_unhealthy() && unhealthy.health().has_quarantine();
      if (!is_quarantine || step.world.nodes_at_fault().contains(unhealthy.node_id())) continue;
      const std::string& reason = unhealthy.health().quarantine().reason();
      if (LooksLost(reason) && !step.world.hurt().empty()) continue;
      if (NeverStarted(reason)) continue;
      return absl::StrCat(unhealthy.node_id(), ", which no fault struck, was put into quarantine: ",
                          unhealthy.health().quarantine().reason());
    }
    return "";
  }

 private:
  // A gang may wait for a rank that died on another node. If a node of the waiting gang sends no
  // heartbeats, the controller cannot distinguish that node from a lost node.
  static bool LooksLost(const std::string& reason) {
    return reason.find(" on other nodes have ") != std::string::npos;
  }
  // True for a node that sends no heartbeats and never received the start command. The node looks
  // lost as well, because no peer can show that its ranks are running.
  static bool NeverStarted(const std::string& reason) {
    return reason.find("before it was due to start") != std::string::npos;
  }
};

}  // namespace

std::unique_ptr<Checker> QuarantineIsJust() { return std::make_unique<QuarantineIsJustChecker>(); }

}  // namespace trainyard::simulation
