// After a rollback, no attempt of the job starts from a checkpoint that the loss spike has
// affected: neither the next attempt, nor an attempt after a crash or after a restart of the
// controller. The number of rollbacks stays within the budget.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class RollbacksLeaveTheBranchChecker : public Checker {
 public:
  const char* Name() const override { return "rollbacks leave the branch"; }

  std::string Check(const Step& step) override {
    Learn(step.world);
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_attempt_rolled_back()) {
        const v1::AttemptRolledBack& back = event.attempt_rolled_back();
        rolled_back_.insert({back.job_id(), back.attempt()});
        const v1::GuardSpec& rules = step.state.jobs.at(back.job_id()).job.spec().guard();
        if (++rollbacks_[back.job_id()] > rules.max_rollbacks()) {
          return absl::StrCat("job ", back.job_id(), " went back too often");
        }
      }
      if (!event.has_job_placed()) continue;
      const v1::JobPlaced& placed = event.job_placed();
      const AttemptKey parent{placed.job_id(), placed.resume_attempt()};
      const auto met = met_.find(parent);
      if (met == met_.end() || !rolled_back_.contains(parent)) continue;
      if (placed.resume_step() >= met->second) {
        return absl::StrCat("attempt ", placed.attempt(), " of job ", placed.job_id(),
                            " starts from step ", placed.resume_step(), " of attempt ",
                            parent.number, ", which met a bad sample at step ", met->second);
      }
    }
    return "";
  }

 private:
  // Uses the simulated world's own record of what happened, not the events of the controller.
  void Learn(const TrainingWorld& world) {
    for (; learnt_ < world.meetings().size(); ++learnt_) {
      const TrainingWorld::Meeting& meeting = world.meetings()[learnt_];
      // The guard has detected the newest bad sample. The guard may have missed earlier bad
      // samples, so each bad sample replaces the previous bad sample.
      met_[meeting.attempt] = meeting.step;
    }
  }

  std::size_t learnt_ = 0;
  // The step at which each attempt trained on its newest bad sample.
  std::map<AttemptKey, int64_t> met_;
  std::set<AttemptKey> rolled_back_;
  std::map<int64_t, int> rollbacks_;
};

}  // namespace

std::unique_ptr<Checker> RollbacksLeaveTheBranch() {
  return std::make_unique<RollbacksLeaveTheBranchChecker>();
}

}  // namespace trainyard::simulation
