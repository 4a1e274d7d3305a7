// Jobs that wait for other jobs to succeed (`after` in a job file).
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_PREREQUISITES_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_PREREQUISITES_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns true if a job named in `after` has not succeeded yet, or never will.
bool IsDependent(const v1::Job& job);

// Returns the first job named in `after` that ended without success, or nullptr if there is none.
const v1::Prerequisite* FailedPrerequisite(const v1::Job& job);

// Adds a queued or held job to the indexes of jobs that wait for other jobs.
void AddDependencies(const v1::Job& job, ClusterState& state);
void RemoveDependencies(const v1::Job& job, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_PREREQUISITES_H_
