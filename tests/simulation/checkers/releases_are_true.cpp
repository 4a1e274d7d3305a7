// Expected ends of jobs, and the times at which slots become free, equal those that are computed
// afresh from jobs, nodes and the newest reports.
#include "tests/controller/core/fresh_releases.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class ReleasesAreTrueChecker : public Checker {
 public:
  const char* Name() const override { return "releases are true"; }

  std::string Check(const Step& step) override {
    if (step.first_new == step.log.size() && step.now < next_ms_) return "";
    // Reports change the expected ends without an event.
    next_ms_ = step.now + 1000;
    return controller::DifferentReleases(step.state, step.view.observations, step.controller_now);
  }

 private:
  Timestamp next_ms_ = 0;
};

}  // namespace

std::unique_ptr<Checker> ReleasesAreTrue() { return std::make_unique<ReleasesAreTrueChecker>(); }

}  // namespace trainyard::simulation
