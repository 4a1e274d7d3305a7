// A node that failed to start a rank gets no rank before its next try. In that try, the node gets
// ranks of one attempt only. A node that reports trouble or is quarantined gets no ranks.
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/time_shift.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class UnhealthyKeepsRanksOffChecker : public Checker {
 public:
  const char* Name() const override { return "unhealthy keeps ranks off"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_clock_set()) {
        for (auto& [id, sick] : sick_) {
          controller::ShiftTimes(event.clock_set().step_ms(), sick.health);
        }
      }
      if (event.has_node_unhealthy()) {
        Sick& sick = sick_[event.node_unhealthy().node_id()];
        // If a node no longer reports trouble, a try in progress continues.
        const bool is_new =
            sick.health.failed_time_ms() != event.node_unhealthy().health().failed_time_ms();
        sick.health = event.node_unhealthy().health();
        if (is_new) sick.tried_by = 0;
      }
      if (event.has_node_healthy()) sick_.erase(event.node_healthy().node_id());
      if (event.has_node_released()) Release(event.node_released().node_id());
      if (event.has_attempt_ended()) {
        for (auto& [id, sick] : sick_) {
          if (sick.tried_by == event.attempt_ended().job_id()) sick.tried_by = 0;
        }
      }
      const std::string wrong = CheckPlacement(event);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  struct Sick {
    v1::NodeHealth health;
    // The job whose attempt tries the node; 0 if there is none.
    int64_t tried_by = 0;
  };

  void Release(const std::string& node_id) {
    const auto found = sick_.find(node_id);
    if (found == sick_.end()) return;
    v1::NodeHealth& health = found->second.health;
    health.clear_quarantine();
    if (health.failed_starts() == 0 && health.reported().empty()) sick_.erase(found);
  }

  std::string CheckPlacement(const v1::Event& event) {
    const v1::JobPlaced& placed = event.job_placed();
    for (const v1::RankPlacement& rank : placed.ranks()) {
      const auto found = sick_.find(rank.node_id());
      if (found == sick_.end()) continue;
      Sick& sick = found->second;
      const std::string what = absl::StrCat("job ", placed.job_id(), " on ", rank.node_id());
      if (!sick.health.reported().empty()) return what + ", which reports trouble";
      if (sick.health.has_quarantine()) return what + ", which is in quarantine";
      if (event.time_ms() < sick.health.retry_not_before_ms()) return what + " before its next try";
      if (sick.tried_by != 0 && sick.tried_by != placed.job_id()) {
        return absl::StrCat(what, ", which job ", sick.tried_by, " tries");
      }
      sick.tried_by = placed.job_id();
    }
    return "";
  }

  std::map<std::string, Sick> sick_;
};

}  // namespace

std::unique_ptr<Checker> UnhealthyKeepsRanksOff() {
  return std::make_unique<UnhealthyKeepsRanksOffChecker>();
}

}  // namespace trainyard::simulation
