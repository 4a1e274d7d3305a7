// If enough slots are free for the first job in line, the job starts soon. A job at a limit of its
// queue does not count as the first. Neither do later jobs of this queue, because the limit may be
// closed for them.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/verdict/verdict_facts.h"
#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/checkers/held_slots.h"
#include "tests/simulation/checkers/reservation_model.h"

namespace trainyard::simulation {
namespace {

// Longer than a freeze of the controller, a full disk, and the choice of a layout.
constexpr int64_t kLongestWaitMs = 45'000;

class WaitsHaveCausesChecker : public Checker {
 public:
  const char* Name() const override { return "waits have causes"; }

  std::string Check(const Step& step) override {
    const int64_t first = FirstThatFits(step);
    if (first == 0 || first != first_) {
      first_ = first;
      since_ = step.now;
      return "";
    }
    if (step.now - since_ <= kLongestWaitMs) return "";
    return absl::StrCat("job ", first, " is first in line and fits, but has waited for ",
                        step.now - since_, " ms");
  }

 private:
  // Returns the first job that requests slots and is within the limits of its queue, if it fits the
  // free slots; 0 otherwise.
  static int64_t FirstThatFits(const Step& step) {
    const HeldSlots held = CountHeldSlots(step.state, v1::DEVICE_KIND_CPU);
    std::set<std::string> at_limit;
    for (const int64_t id : JobsInOrder(step.state, v1::DEVICE_KIND_CPU, step.controller_now)) {
      const controller::JobEntry& entry = step.state.jobs.at(id);
      if (!RequestsSlots(step.state, entry, step.controller_now)) continue;
      const controller::JobClass job_class = controller::ClassOf(entry.job);
      const bool keeps_slots = step.state.reservations.contains(id);
      if (!keeps_slots && !MayHoldOneMore(step.state, held, job_class)) {
        at_limit.insert(job_class.queue);
      }
      if (at_limit.contains(job_class.queue)) continue;
      return Fits(step, entry) ? id : 0;
    }
    return 0;
  }

  static bool Fits(const Step& step, const controller::JobEntry& job) {
    const controller::GangShape shape = LeastShape(job);
    const std::set<std::string> to_avoid = controller::NodesToAvoid(job.job);
    const auto fitting = std::ranges::count_if(step.state.nodes, [&](const auto& item) {
      const auto& [id, entry] = item;
      const auto observed = step.view.observations.nodes.find(id);
      const bool is_open = controller::TakesRanks(entry.node) && !entry.node.has_health() &&
                           observed != step.view.observations.nodes.end() &&
                           observed->second.takes_commands && !to_avoid.contains(id);
      return is_open && controller::FreeSlots(entry.node, shape.kind) >= shape.slots_per_node &&
             entry.free_host.Covers(shape.HostPerNode()) &&
             ReservationAgainst(step.state, job, entry.node.name(), step.controller_now).empty();
    });
    return fitting >= shape.nodes;
  }

  int64_t first_ = 0;  // The job that fits, and the time since which it does.
  Timestamp since_ = 0;
};

}  // namespace

std::unique_ptr<Checker> WaitsHaveCauses() { return std::make_unique<WaitsHaveCausesChecker>(); }

}  // namespace trainyard::simulation
