// A job that users have paused or put on hold has no live attempt, is not in the queue and is not
// started. It has no slots, except slots whose release has not been confirmed by the node yet. A
// pause does not count as a restart.
#include <set>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/pause.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class PausedJobsHoldNothingChecker : public Checker {
 public:
  const char* Name() const override { return "paused jobs hold nothing"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (std::string wrong = CheckEvent(step.log[i]); !wrong.empty()) return wrong;
    }
    return step.first_new < step.log.size() ? CheckState(step.state) : "";
  }

 private:
  std::string CheckEvent(const v1::Event& event) {
    if (event.has_job_submitted() && event.job_submitted().held()) {
      paused_.insert(event.job_submitted().job_id());
    }
    if (event.has_job_paused()) paused_.insert(event.job_paused().job_id());
    if (event.has_job_resumed()) paused_.erase(event.job_resumed().job_id());
    if (event.has_attempt_failed()) failed_.insert(event.attempt_failed().job_id());
    if (event.has_job_placed()) {
      failed_.erase(event.job_placed().job_id());
      if (paused_.contains(event.job_placed().job_id())) {
        return absl::StrCat("job ", event.job_placed().job_id(), " was started");
      }
    }
    const v1::AttemptEnded& ended = event.attempt_ended();
    const bool counts = ended.retry_not_before_ms() != 0 && !ended.uncounted();
    if (counts && paused_.contains(ended.job_id()) && !failed_.contains(ended.job_id())) {
      return absl::StrCat("the pause of job ", ended.job_id(), " counts as a restart");
    }
    return "";
  }

  static std::string CheckState(const controller::ClusterState& state) {
    for (const int64_t id : state.paused_jobs) {
      const controller::JobEntry& entry = state.jobs.at(id);
      if (!controller::IsPausedOrHeld(entry.job.state()) || LiveAttempt(entry) != nullptr ||
          !entry.job.has_pause() ||
          state.pending_jobs.Contains(controller::QueueKeyOf(entry.job))) {
        return absl::StrCat("job ", id, " is half paused");
      }
    }
    for (const auto& [node_id, node] : state.nodes) {
      for (const v1::SlotUse& use : node.node.slot_uses()) {
        if (!state.paused_jobs.contains(use.job_id())) continue;
        if (node.uncleared.contains(controller::HolderOf(use))) continue;
        return absl::StrCat("job ", use.job_id(), " holds a slot of ", node_id);
      }
    }
    return "";
  }

  std::set<int64_t> paused_;
  std::set<int64_t> failed_;  // Jobs whose newest attempt failed.
};

}  // namespace

std::unique_ptr<Checker> PausedJobsHoldNothing() {
  return std::make_unique<PausedJobsHoldNothingChecker>();
}

}  // namespace trainyard::simulation
