#include "controller/core/state/starting_point.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proto/contract/limits.h"
#include "proto/jobspec/run_config_of.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

// Returns another job's checkpoint, or an empty starting point if the spec names no checkpoint.
StartingPoint NamedStart(const v1::JobSpec& spec) {
  const std::string& path = spec.checkpoint().resume_from();
  return {path, RunsOurTrainer(spec) ? StepInName(path) : 0, 0};
}

}  // namespace

int64_t StepInName(const std::string& path) {
  static const RE2 kName("(?:^|/)step_([0-9]{9,18})/*$");
  int64_t step = 0;
  return RE2::PartialMatch(path, kName, &step) && step <= kMaxStep ? step : 0;
}

bool PublishedNewerCheckpoint(const JobEntry& entry) {
  const v1::Attempt* attempt = NewestAttempt(entry);
  return attempt != nullptr &&
         std::ranges::any_of(entry.job.checkpoints(), [&](const v1::Checkpoint& checkpoint) {
           return checkpoint.attempt() == attempt->number() &&
                  checkpoint.step() > attempt->resume_step();
         });
}

StartingPoint NextStartingPoint(const v1::Job& job) {
  const v1::Checkpoint* newest = nullptr;
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    if (checkpoint.damaged() || checkpoint.rolled_back()) continue;
    if (newest == nullptr || std::make_pair(checkpoint.step(), checkpoint.attempt()) >
                                 std::make_pair(newest->step(), newest->attempt())) {
      newest = &checkpoint;
    }
  }
  if (newest == nullptr) return NamedStart(job.spec());
  return {newest->path(), newest->step(), newest->attempt()};
}

}  // namespace trainyard::controller
