#include "controller/core/state/starting_point.h"

#include <algorithm>
#include <utility>

namespace trainyard::controller {

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
  if (newest == nullptr) return {job.spec().checkpoint().resume_from(), 0, 0};
  return {newest->path(), newest->step(), newest->attempt()};
}

}  // namespace trainyard::controller
