// The class and the queue of a job.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_CLASS_OF_JOB_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_CLASS_OF_JOB_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "controller/core/state/host_amount.h"
#include "controller/core/state/job_class.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The queue of jobs that name none. It always exists.
inline constexpr char kDefaultQueue[] = "default";

// Returns the class of a job without a live attempt.
JobClass ClassOf(const v1::Job& job);

// Returns the name of the job's queue.
std::string QueueOf(const v1::Job& job);

// The part of a class that decides on which free slots its jobs fit. The class must outlive it.
struct SlotRequest {
  v1::DeviceKind kind = v1::DEVICE_KIND_UNSPECIFIED;
  int nodes = 0;
  int slots_per_node = 0;
  HostAmount host_per_rank = {};
  int64_t only_job = 0;
  std::string_view checkpoint_parent;
  std::string_view placement;
  friend auto operator<=>(const SlotRequest&, const SlotRequest&) = default;
};
SlotRequest SlotRequestOf(const JobClass& job_class);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_CLASS_OF_JOB_H_
