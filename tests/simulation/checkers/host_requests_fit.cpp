// The ranks on a node never request more CPU cores or memory than the node has. The requests of the
// slots are those of the job files.
#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

using controller::HostAmount;

class HostRequestsFitChecker : public Checker {
 public:
  const char* Name() const override { return "requests of CPUs and memory fit"; }

  std::string Check(const Step& step) override {
    if (step.first_new == step.log.size()) return "";
    for (const auto& [id, entry] : step.state.nodes) {
      HostAmount requested;
      for (const v1::SlotUse& use : entry.node.slot_uses()) {
        const HostAmount of_slot{use.requested_cpus(), use.requested_memory_bytes()};
        requested = requested + of_slot;
        // A lost node may have slots of a job that was archived.
        const auto job = step.state.jobs.find(use.job_id());
        if (job == step.state.jobs.end()) continue;
        if (controller::GangRequestOf(job->second.job.spec()).host != of_slot) {
          return absl::StrCat("a slot of ", id, " has another request than job ", use.job_id());
        }
      }
      const v1::Inventory& inventory = entry.node.inventory();
      if (requested.cpus > inventory.cpu_cores() ||
          requested.memory_bytes > inventory.memory_bytes()) {
        return absl::StrCat("the ranks on ", id, " request ", requested.cpus, " cores and ",
                            requested.memory_bytes, " bytes");
      }
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Checker> HostRequestsFit() { return std::make_unique<HostRequestsFitChecker>(); }

}  // namespace trainyard::simulation
