// Effects of a job's rollbacks on its next attempts and its checkpoints.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ROLLBACKS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ROLLBACKS_H_

#include <cstdint>
#include <string>

#include "trainyard/v1/checkpoint.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// True if the checkpoint was saved after the spike: no attempt may start from it. A checkpoint of a
// later attempt at the same step is a different one.
bool IsRolledBack(const v1::Job& job, const v1::Checkpoint& checkpoint);

// Marks the checkpoints that the job's rollbacks make unusable.
void MarkRolledBack(v1::Job& job);

// Sample ranges skipped by all rollbacks together: "a:b,c:d", sorted. Adjacent and overlapping
// ranges are joined. Empty if no rollback skips samples.
std::string SkippedSamples(const v1::Job& job);

// Range "a:b" that begins with `samples` and is `batches` times as long. Empty if the samples are
// unknown or impossible (below 0, or beyond any run).
std::string RangeToSkip(const v1::SampleRange& samples, int64_t batches);

// Product of the factors of all rollbacks; 1 if there are none.
double LearningRateFactor(const v1::Job& job);

// "attempt:step,attempt:step" for TRAINYARD_ROLLED_BACK; empty if there are none.
std::string RolledBackText(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ROLLBACKS_H_
