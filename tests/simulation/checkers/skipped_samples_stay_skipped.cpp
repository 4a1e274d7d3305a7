// After a rollback has skipped a sample, no later attempt of the job trains on that sample,
// whatever fails in between.
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class SkippedSamplesStaySkippedChecker : public Checker {
 public:
  const char* Name() const override { return "skipped samples stay skipped"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (step.log[i].has_attempt_rolled_back()) Learn(step.log[i].attempt_rolled_back(), step);
    }
    for (; checked_ < step.world.meetings().size(); ++checked_) {
      const auto& [attempt, at_step, position] = step.world.meetings()[checked_];
      const auto skipped = skipped_.find({attempt.job_id, position});
      if (skipped == skipped_.end() || attempt.number <= skipped->second) continue;
      return absl::StrCat("attempt ", attempt.number, " of job ", attempt.job_id, " met sample ",
                          position, " at step ", at_step, ", which attempt ", skipped->second,
                          " had left out");
    }
    return "";
  }

 private:
  // Records the positions on which the attempt trained at the step of the rollback.
  void Learn(const v1::AttemptRolledBack& back, const Step& step) {
    const AttemptKey attempt{back.job_id(), back.attempt()};
    for (const TrainingWorld::Meeting& meeting : step.world.meetings()) {
      if (meeting.attempt != attempt || meeting.step != back.rollback().step()) continue;
      skipped_[{attempt.job_id, meeting.position}] = attempt.number;
    }
  }

  std::size_t checked_ = 0;
  // For each job and position, the attempt whose
  // rollback skipped the sample at this position.
  std::map<std::pair<int64_t, int64_t>, int64_t> skipped_;
};

}  // namespace

std::unique_ptr<Checker> SkippedSamplesStaySkipped() {
  return std::make_unique<SkippedSamplesStaySkippedChecker>();
}

}  // namespace trainyard::simulation
