// A node goes into quarantine only after a fault that struck it: lost contact to its peers, a lost
// machine or lost records, an error of its device. Trouble of the controller, of its network or of
// programs quarantines no node.
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
  // A node without a heartbeat whose gang waits for a rank that died elsewhere cannot be told from
  // one that is lost.
  static bool LooksLost(const std::string& reason) {
    return reason.find("peers in job") != std::string::npos;
  }
  // The same holds for a node without a heartbeat that never got the order to start: no peer can
  // show that its ranks run.
  static bool NeverStarted(const std::string& reason) {
    return reason.find("before it was due to start") != std::string::npos;
  }
};

}  // namespace

std::unique_ptr<Checker> QuarantineIsJust() { return std::make_unique<QuarantineIsJustChecker>(); }

}  // namespace trainyard::simulation
