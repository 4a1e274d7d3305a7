// Consequences of the rollbacks of a job for its next attempts and for its checkpoints.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ROLLBACKS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ROLLBACKS_H_

#include <cstdint>
#include <string>

#include "trainyard/v1/checkpoint.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// True when the checkpoint holds what a spike left: no attempt may start from it. A checkpoint of
// a later attempt at the same step is another one.
bool IsRolledBack(const v1::Job& job, const v1::Checkpoint& checkpoint);

// Marks the checkpoints of the job that its newest rollback makes bad.
void MarkRolledBack(v1::Job& job);

// The ranges that all rollbacks skip, "a:b,c:d", sorted; ranges that touch are joined. Empty when
// none does.
std::string SkippedSamples(const v1::Job& job);

// The range "a:b" of `batches` times as many samples as `samples` has, from its first one on. Empty
// when the samples are not known or cannot be (below 0, or more than any run has).
std::string RangeToSkip(const v1::SampleRange& samples, int64_t batches);

// Product of the factors of all rollbacks; 1 when there are none.
double LearningRateFactor(const v1::Job& job);

// "attempt:step,attempt:step" for TRAINYARD_ROLLED_BACK; empty when there are none.
std::string RolledBackText(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ROLLBACKS_H_
