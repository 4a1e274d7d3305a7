// A job is placed only after all jobs named in `after` have succeeded. A job fails for the cause
// dependency_failed exactly if one of them has ended without success and the job had no attempt.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/state/job_queue.h"
#include "controller/core/state/prerequisites.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class DependentJobsWaitChecker : public Checker {
 public:
  const char* Name() const override { return "dependent jobs wait"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (std::string wrong = CheckEvent(step.log[i]); !wrong.empty()) return wrong;
    }
    return step.first_new < step.log.size() ? CheckState(step.state) : "";
  }

 private:
  std::string CheckEvent(const v1::Event& event) {
    if (event.has_job_submitted()) {
      for (const v1::Prerequisite& prerequisite : event.job_submitted().after()) {
        after_[event.job_submitted().job_id()].push_back(prerequisite.job_id());
      }
    }
    if (event.has_job_placed()) return CheckPlaced(event.job_placed().job_id());
    if (!event.has_job_ended()) return "";
    const v1::JobEnded& ended = event.job_ended();
    outcomes_[ended.job_id()] = ended.state();
    const bool blames = ended.verdict().cause() == v1::VERDICT_CAUSE_DEPENDENCY_FAILED;
    if (!blames) return "";
    if (placed_.contains(ended.job_id())) {
      return absl::StrCat("job ", ended.job_id(), " was placed, then failed for a dependency");
    }
    return CountWithout(ended.job_id(), /*ended_only=*/true) > 0
               ? ""
               : absl::StrCat("job ", ended.job_id(), " failed without a failed dependency");
  }

  std::string CheckPlaced(int64_t job_id) {
    placed_.insert(job_id);
    if (CountWithout(job_id, /*ended_only=*/false) == 0) return "";
    return absl::StrCat("job ", job_id, " was placed before its dependencies succeeded");
  }

  // Returns the number of the job's dependencies that have not succeeded. With `ended_only`, jobs
  // that have not ended are left out.
  int64_t CountWithout(int64_t job_id, bool ended_only) const {
    const auto found = after_.find(job_id);
    if (found == after_.end()) return 0;
    return std::ranges::count_if(found->second, [&](int64_t id) {
      const auto outcome = outcomes_.find(id);
      if (outcome == outcomes_.end()) return !ended_only;
      return outcome->second != v1::JOB_STATE_SUCCEEDED;
    });
  }

  static std::string CheckState(const controller::ClusterState& state) {
    if (!state.unsatisfiable_jobs.empty()) {
      return absl::StrCat("job ", *state.unsatisfiable_jobs.begin(), " waits in vain");
    }
    for (const int64_t id : state.dependent_jobs) {
      const v1::Job& job = state.jobs.at(id).job;
      const bool waits = job.state() == v1::JOB_STATE_QUEUED && controller::IsDependent(job) &&
                         !state.pending_jobs.Contains(controller::QueueKeyOf(job));
      if (!waits) return absl::StrCat("job ", id, " is half dependent");
    }
    return "";
  }

  std::map<int64_t, std::vector<int64_t>> after_;
  std::map<int64_t, v1::JobState> outcomes_;
  std::set<int64_t> placed_;
};

}  // namespace

std::unique_ptr<Checker> DependentJobsWait() {
  return std::make_unique<DependentJobsWaitChecker>();
}

}  // namespace trainyard::simulation
