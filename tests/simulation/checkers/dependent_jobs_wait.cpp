// A job is placed only after all its conditions in `after` are met. A job fails for the cause
// dependency_failed exactly if a condition can no longer be met and the job had no attempt.
#include <set>

#include "absl/strings/str_cat.h"
#include "controller/core/state/job_queue.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/checkers/condition_model.h"

namespace trainyard::simulation {
namespace {

// The lease of CoreOptions, and time in which the controller is down.
constexpr int64_t kLongestWaitForReportsMs = 15 * 60'000;

class DependentJobsWaitChecker : public Checker {
 public:
  const char* Name() const override { return "dependent jobs wait"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (std::string wrong = CheckEvent(step.log[i]); !wrong.empty()) return wrong;
    }
    return step.first_new < step.log.size() ? CheckState(step) : "";
  }

 private:
  std::string CheckEvent(const v1::Event& event) {
    if (std::string wrong = model_.Note(event); !wrong.empty()) return wrong;
    if (event.has_job_placed()) return CheckPlaced(event.job_placed().job_id());
    if (!event.has_job_ended()) return "";
    const v1::JobEnded& ended = event.job_ended();
    const bool blames = ended.verdict().cause() == v1::VERDICT_CAUSE_DEPENDENCY_FAILED;
    if (!blames) return "";
    if (placed_.contains(ended.job_id())) {
      return absl::StrCat("job ", ended.job_id(), " was placed, then failed for a dependency");
    }
    return model_.HaveFailed(ended.job_id(), /*checkpoints=*/true)
               ? ""
               : absl::StrCat("job ", ended.job_id(), " failed without a failed condition");
  }

  std::string CheckPlaced(int64_t job_id) {
    placed_.insert(job_id);
    if (model_.AreMet(job_id)) return "";
    return absl::StrCat("job ", job_id, " was placed before its conditions were met");
  }

  std::string CheckState(const Step& step) const {
    for (const int64_t id : step.state.unsatisfiable_jobs) {
      if (model_.HaveFailed(id, /*checkpoints=*/false) || WaitsLong(step, id)) {
        return absl::StrCat("job ", id, " waits in vain");
      }
    }
    for (const int64_t id : step.state.dependent_jobs) {
      const v1::Job& job = step.state.jobs.at(id).job;
      const bool waits = job.state() == v1::JOB_STATE_QUEUED && controller::IsDependent(job) &&
                         !step.state.pending_jobs.Contains(controller::QueueKeyOf(job));
      if (!waits) return absl::StrCat("job ", id, " is half dependent");
      if (model_.AreMet(id)) return absl::StrCat("job ", id, " waits for met conditions");
    }
    return "";
  }

  // Returns true if the reports of an ended job's checkpoints have been awaited for too long.
  static bool WaitsLong(const Step& step, int64_t job_id) {
    for (const v1::Prerequisite& one : step.state.jobs.at(job_id).job.after()) {
      const int64_t waited_ms = step.controller_now - one.ended_time_ms();
      if (controller::EndedUnmet(one) && waited_ms > kLongestWaitForReportsMs) return true;
    }
    return false;
  }

  ConditionModel model_;
  std::set<int64_t> placed_;
};

}  // namespace

std::unique_ptr<Checker> DependentJobsWait() {
  return std::make_unique<DependentJobsWaitChecker>();
}

}  // namespace trainyard::simulation
