// Jobs that wait for conditions on other jobs (`after` in a job file).
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOBS_PREREQUISITES_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOBS_PREREQUISITES_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the condition, which is success in logs of older releases.
v1::JobCondition ConditionOf(const v1::Prerequisite& prerequisite);

bool IsMet(const v1::Prerequisite& prerequisite);

// Returns true if the named job has ended without meeting the condition. A checkpoint may still
// meet it: the report of a checkpoint can arrive after the end of the job
// (observations/late_reports.h).
bool EndedUnmet(const v1::Prerequisite& prerequisite);

// Returns the time at which the condition was met; 0 if it was not.
Timestamp MetTime(const v1::Prerequisite& prerequisite);

// Returns true if a condition is not met, or never will be.
bool IsDependent(const v1::Job& job);

// Meets the condition if it is a checkpoint that this checkpoint satisfies. Damaged and rolled-back
// checkpoints satisfy no condition. Returns true if the condition was not met before.
bool MeetByCheckpoint(const v1::Checkpoint& checkpoint, v1::Prerequisite& prerequisite);

// Adds a queued or held job to the indexes of jobs that wait for other jobs.
void AddDependencies(const v1::Job& job, ClusterState& state);
void RemoveDependencies(const v1::Job& job, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOBS_PREREQUISITES_H_
