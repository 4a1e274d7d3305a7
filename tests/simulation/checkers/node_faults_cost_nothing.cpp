// A node that cannot start ranks does not use up a job's restart budget and does not end the job. A
// rank that exceeds a limit fails only its own job.
#include <map>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class NodeFaultsCostNothingChecker : public Checker {
 public:
  const char* Name() const override { return "node faults cost nothing"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const std::string wrong = CheckOne(step, step.log[i]);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  std::string CheckOne(const Step& step, const v1::Event& event) {
    if (event.has_attempt_failed()) {
      const v1::AttemptFailed& failed = event.attempt_failed();
      causes_[failed.job_id()] = failed.verdict().cause();
      const bool floods = failed.verdict().cause() == v1::VERDICT_CAUSE_LIMIT_EXCEEDED;
      if (floods && !step.world.flooded().contains({failed.job_id(), failed.attempt()})) {
        return absl::StrCat("job ", failed.job_id(), " was blamed for a flood");
      }
    }
    if (event.has_attempt_ended()) {
      const v1::AttemptEnded& ended = event.attempt_ended();
      const v1::VerdictCause cause = causes_[ended.job_id()];
      const bool again = ended.retry_not_before_ms() != 0;
      if (cause == v1::VERDICT_CAUSE_NODE_FAULT && again && !ended.uncounted()) {
        return absl::StrCat("a fault of a node cost job ", ended.job_id(), " a restart");
      }
      if (cause == v1::VERDICT_CAUSE_LIMIT_EXCEEDED && again) {
        return absl::StrCat("job ", ended.job_id(), " may flood again");
      }
    }
    const v1::JobEnded& ended = event.job_ended();
    const bool failed = event.has_job_ended() && ended.state() == v1::JOB_STATE_FAILED;
    if (failed && ended.verdict().cause() == v1::VERDICT_CAUSE_NODE_FAULT) {
      return absl::StrCat("a fault of a node failed job ", ended.job_id());
    }
    return "";
  }

  std::map<int64_t, v1::VerdictCause> causes_;
};

}  // namespace

std::unique_ptr<Checker> NodeFaultsCostNothing() {
  return std::make_unique<NodeFaultsCostNothingChecker>();
}

}  // namespace trainyard::simulation
