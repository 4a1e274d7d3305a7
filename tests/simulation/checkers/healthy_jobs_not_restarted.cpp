// An attempt may fail only because of a real fault: a rank or machine died, or peers cannot reach
// each other. Lost messages, dead daemons and missing heartbeats alone cause no restart.
#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

bool HasRanOn(const TrainingWorld& world, const v1::AttemptFailed& failed) {
  for (const auto& [key, process] : world.processes()) {
    const bool is_its_own = process.attempt == AttemptKey{failed.job_id(), failed.attempt()};
    if (is_its_own && process.node_id == failed.verdict().node_id()) return true;
  }
  return false;
}

class HealthyJobsNotRestartedChecker : public Checker {
 public:
  const char* Name() const override { return "healthy jobs not restarted"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (!step.log[i].has_attempt_failed()) continue;
      const v1::AttemptFailed& failed = step.log[i].attempt_failed();
      if (step.world.hurt().contains({failed.job_id(), failed.attempt()})) continue;
      // A machine that had a process of the attempt may have died before the attempt failed.
      const bool node_lost = failed.verdict().cause() == v1::VERDICT_CAUSE_NODE_LOST;
      if (node_lost && step.world.IsGone(failed.verdict().node_id())) continue;
      // If a worker left before it started the attempt, no rank of the attempt ran on its node.
      if (node_lost && !HasRanOn(step.world, failed)) continue;
      return absl::StrCat("attempt ", failed.attempt(), " of job ", failed.job_id(),
                          " was healthy: ", failed.verdict().summary());
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Checker> HealthyJobsNotRestarted() {
  return std::make_unique<HealthyJobsNotRestartedChecker>();
}

}  // namespace trainyard::simulation
