// Finds the job that an event is about.
#ifndef TRAINYARD_CONTROLLER_CORE_EVENT_LOG_EVENT_JOB_H_
#define TRAINYARD_CONTROLLER_CORE_EVENT_LOG_EVENT_JOB_H_

#include <cstdint>

#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns the `job_id` field of the event. Returns 0 if the event has no job.
int64_t JobIdOf(const v1::Event& event);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EVENT_LOG_EVENT_JOB_H_
