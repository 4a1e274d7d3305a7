// Each attempt starts from the newest checkpoint in the log that no attempt has found damaged and
// no rollback has invalidated. Only damaged checkpoints are rejected. A damaged checkpoint does not
// fail a job that has another checkpoint.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class ResumesFromNewestSoundCheckpointChecker : public Checker {
 public:
  const char* Name() const override { return "resumes from newest sound checkpoint"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (std::string wrong = CheckEvent(step.log[i], step.world); !wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  // The step and the attempt of each checkpoint of a job, by path.
  using Checkpoints = std::map<std::string, std::pair<int64_t, int64_t>>;

  std::string CheckEvent(const v1::Event& event, const TrainingWorld& world) {
    if (event.has_checkpoint_published()) {
      const v1::Checkpoint& checkpoint = event.checkpoint_published().checkpoint();
      jobs_[event.checkpoint_published().job_id()].erase(checkpoint.path());
      if (IsBad(event.checkpoint_published().job_id(), checkpoint.attempt(), checkpoint.step())) {
        return "";
      }
      jobs_[event.checkpoint_published().job_id()][checkpoint.path()] = {checkpoint.step(),
                                                                         checkpoint.attempt()};
    } else if (event.has_attempt_rolled_back()) {
      const v1::AttemptRolledBack& back = event.attempt_rolled_back();
      bad_[back.job_id()].push_back({back.attempt(), back.rollback().first_bad_step()});
      std::erase_if(jobs_[back.job_id()], [&](const auto& checkpoint) {
        return IsBad(back.job_id(), checkpoint.second.second, checkpoint.second.first);
      });
    } else if (event.has_checkpoint_rejected()) {
      const v1::CheckpointRejected& rejected = event.checkpoint_rejected();
      if (!world.IsDamaged(rejected.path())) return rejected.path() + " was rejected, but is sound";
      jobs_[rejected.job_id()].erase(rejected.path());
    } else if (event.has_job_placed()) {
      return CheckStart(event.job_placed());
    } else if (event.has_job_ended()) {
      const v1::JobEnded& ended = event.job_ended();
      const bool gave_up = ended.state() == v1::JOB_STATE_FAILED &&
                           ended.verdict().cause() == v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED;
      if (gave_up && !jobs_[ended.job_id()].empty()) {
        return absl::StrCat("job ", ended.job_id(), " failed with a sound checkpoint left");
      }
    }
    return "";
  }

  std::string CheckStart(const v1::JobPlaced& placed) {
    std::pair<int64_t, int64_t> newest;
    std::string path;
    for (const auto& [candidate, place] : jobs_[placed.job_id()]) {
      if (place <= newest) continue;
      newest = place;
      path = candidate;
    }
    if (placed.resume_from() == path && placed.resume_step() == newest.first) return "";
    return absl::StrCat("attempt ", placed.attempt(), " of job ", placed.job_id(), " starts from `",
                        placed.resume_from(), "` instead of `", path, "`");
  }

  bool IsBad(int64_t job_id, int64_t attempt, int64_t step) {
    return std::ranges::any_of(bad_[job_id], [=](const auto& rollback) {
      return attempt <= rollback.first && step >= rollback.second;
    });
  }

  std::map<int64_t, Checkpoints> jobs_;
  // The attempt and the first bad step of each rollback, by job.
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> bad_;
};

}  // namespace

std::unique_ptr<Checker> ResumesFromNewestSoundCheckpoint() {
  return std::make_unique<ResumesFromNewestSoundCheckpointChecker>();
}

}  // namespace trainyard::simulation
