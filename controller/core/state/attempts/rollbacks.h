// Effects of a job's rollbacks on its next attempts and on its checkpoints.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_ROLLBACKS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_ROLLBACKS_H_

#include <cstdint>
#include <string>

#include "trainyard/v1/checkpoint.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// Returns true if the checkpoint was saved after the loss spike, so that no attempt may start from
// it. A checkpoint that a later attempt saved at the same step is a different checkpoint.
bool IsRolledBack(const v1::Job& job, const v1::Checkpoint& checkpoint);

// Marks the checkpoints that the job's rollbacks make unusable.
void MarkRolledBack(v1::Job& job);

// Returns the sample ranges that all rollbacks together skip, sorted, as "a:b,c:d". Adjacent and
// overlapping ranges are joined. Empty if no rollback skips samples.
std::string SkippedSamples(const v1::Job& job);

// Returns the range "a:b" that begins with `samples` and is `batches` times as long. Empty if the
// samples are unknown or impossible (negative, or beyond any run).
std::string RangeToSkip(const v1::SampleRange& samples, int64_t batches);

// Returns the product of the factors of all rollbacks. Returns 1 if there are no rollbacks.
double LearningRateFactor(const v1::Job& job);

// Returns "attempt:step,attempt:step", the value of TRAINYARD_ROLLED_BACK. Empty if there are no
// rollbacks.
std::string RolledBackText(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_ROLLBACKS_H_
