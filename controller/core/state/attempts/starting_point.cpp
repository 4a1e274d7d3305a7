#include "controller/core/state/attempts/starting_point.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "proto/contract/limits.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

// Returns another job's checkpoint, or an empty starting point if the spec names no checkpoint.
StartingPoint NamedStart(const v1::JobSpec& spec) {
  const std::string& path = spec.checkpoint().resume_from();
  return {path, RunsOurTrainer(spec) ? StepInName(path) : 0, 0};
}

bool IsUsable(const v1::Checkpoint& checkpoint) {
  return !checkpoint.damaged() && !checkpoint.rolled_back();
}

std::pair<int64_t, int64_t> AgeOf(const v1::Checkpoint& checkpoint) {
  return {checkpoint.step(), checkpoint.attempt()};
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
    if (!IsUsable(checkpoint)) continue;
    if (newest == nullptr || AgeOf(checkpoint) > AgeOf(*newest)) newest = &checkpoint;
  }
  if (newest == nullptr) return NamedStart(job.spec());
  return {newest->path(), newest->step(), newest->attempt()};
}

std::vector<v1::Checkpoint> WatchedCheckpointsOf(const v1::Job& job) {
  // Bounds the size of the start command.
  constexpr std::size_t kMost = 200;
  std::vector<v1::Checkpoint> usable;
  if (job.spec().checkpoint().watch().empty()) return usable;
  std::ranges::copy_if(job.checkpoints(), std::back_inserter(usable), IsUsable);
  std::ranges::sort(usable, std::greater<>(), AgeOf);
  if (usable.size() > kMost) usable.resize(kMost);
  return usable;
}

}  // namespace trainyard::controller
