// The loss guard stops an attempt only at a step that really had a bad sample.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class GuardSparesHealthyJobsChecker : public Checker {
 public:
  const char* Name() const override { return "guard spares healthy jobs"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (!step.log[i].has_attempt_rolled_back()) continue;
      const v1::AttemptRolledBack& back = step.log[i].attempt_rolled_back();
      const bool met =
          std::ranges::any_of(step.world.meetings(), [&](const TrainingWorld::Meeting& meeting) {
            return meeting.attempt == AttemptKey{back.job_id(), back.attempt()} &&
                   meeting.step == back.rollback().step();
          });
      if (met) continue;
      return absl::StrCat("attempt ", back.attempt(), " of job ", back.job_id(),
                          " met no bad sample at step ", back.rollback().step(), ": ",
                          back.verdict().summary());
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Checker> GuardSparesHealthyJobs() {
  return std::make_unique<GuardSparesHealthyJobsChecker>();
}

}  // namespace trainyard::simulation
