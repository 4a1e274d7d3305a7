// The elements of arrays that are jobs.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOBS_ARRAY_ELEMENTS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOBS_ARRAY_ELEMENTS_H_

#include <cstdint>
#include <set>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Adds the job to the index of elements if it is an element and has not ended, else removes it.
void IndexElement(const v1::Job& job, ClusterState& state);

// Returns the jobs of the array's elements that have not ended.
const std::set<int64_t>& LiveElements(const ClusterState& state, int64_t array_id);

// Returns true if every element of the array has been a job, or could not become one.
bool IsWholeCreated(const v1::Job& array);

// Returns the array of which a job with this name would be an element; nullptr if none. Names of
// elements are reserved while their array has not ended.
const v1::Job* ArrayOfName(const ClusterState& state, const std::string& name);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOBS_ARRAY_ELEMENTS_H_
