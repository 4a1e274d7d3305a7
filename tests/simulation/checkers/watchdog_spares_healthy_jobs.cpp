// The watchdog stops an attempt only if one of its ranks hangs, or if its ranks cannot reach each
// other.
#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class WatchdogSparesHealthyJobsChecker : public Checker {
 public:
  const char* Name() const override { return "watchdog spares healthy jobs"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::AttemptFailed& failed = step.log[i].attempt_failed();
      if (failed.verdict().cause() != v1::VERDICT_CAUSE_STALLED) continue;
      const AttemptKey attempt{failed.job_id(), failed.attempt()};
      const auto hung = step.world.hung().find(attempt);
      const bool hangs = hung != step.world.hung().end() || step.world.WasIsolated(attempt);
      if (!hangs) {
        return absl::StrCat("attempt ", failed.attempt(), " of job ", failed.job_id(),
                            " made progress: ", failed.verdict().summary());
      }
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Checker> WatchdogSparesHealthyJobs() {
  return std::make_unique<WatchdogSparesHealthyJobsChecker>();
}

}  // namespace trainyard::simulation
