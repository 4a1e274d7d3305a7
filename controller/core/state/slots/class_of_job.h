// The class and the queue of a job.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_CLASS_OF_JOB_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_CLASS_OF_JOB_H_

#include <string>

#include "controller/core/state/job_class.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The queue of jobs that name none. It always exists.
inline constexpr char kDefaultQueue[] = "default";

// Returns the class of a job without a live attempt.
JobClass ClassOf(const v1::Job& job);

// Returns the name of the job's queue.
std::string QueueOf(const v1::Job& job);

// Returns the part of a class that decides on which free slots its jobs fit.
JobClass SlotRequestOf(JobClass job_class);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_CLASS_OF_JOB_H_
