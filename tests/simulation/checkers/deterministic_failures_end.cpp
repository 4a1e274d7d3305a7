// If a job's program fails in the same way at the same step twice in a row, the job is not
// restarted.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class DeterministicFailuresEndChecker : public Checker {
 public:
  const char* Name() const override { return "deterministic failures end"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_job_placed()) {
        Row& row = rows_[event.job_placed().job_id()];
        if (row.failures >= 2) {
          return absl::StrCat("job ", event.job_placed().job_id(), " is tried again after ",
                              row.failures, " failures at step ", row.step);
        }
      }
      if (event.has_checkpoint_published()) {
        rows_[event.checkpoint_published().job_id()] = {};
      }
      if (event.has_attempt_ended()) Count(step, event.attempt_ended());
    }
    return "";
  }

 private:
  // The number of consecutive failures that the program's bug caused at the same step.
  struct Row {
    int failures = 0;
    int64_t step = 0;
  };

  void Count(const Step& step, const v1::AttemptEnded& ended) {
    const AttemptKey attempt{ended.job_id(), ended.attempt()};
    const v1::Job& job = step.state.jobs.at(ended.job_id()).job;
    const v1::Verdict& verdict = job.attempts(job.attempts_size() - 1).verdict();
    const bool by_bug = step.world.met_bug().contains(attempt) &&
                        verdict.cause() == v1::VERDICT_CAUSE_RANK_EXITED &&
                        verdict.exit_code() == kExitCodeOfBug;
    Row& row = rows_[ended.job_id()];
    const bool goes_on = by_bug && row.failures > 0 && row.step == ended.last_step();
    row = {by_bug ? (goes_on ? row.failures + 1 : 1) : 0, ended.last_step()};
  }

  std::map<int64_t, Row> rows_;
};

}  // namespace

std::unique_ptr<Checker> DeterministicFailuresEnd() {
  return std::make_unique<DeterministicFailuresEndChecker>();
}

}  // namespace trainyard::simulation
