// Waiting jobs that a pass over the queue cannot tell apart.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOB_CLASS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOB_CLASS_H_

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "controller/core/state/host_amount.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// The properties of a job that decide when and where it starts, except its number. If one job of a
// class cannot start in a pass, no later job of the class can.
struct JobClass {
  v1::DeviceKind kind = v1::DEVICE_KIND_UNSPECIFIED;
  std::string queue;
  std::string user;
  int priority = 0;
  int nodes = 0;  // Including spare nodes. For an elastic job, the minimum.
  int slots_per_node = 0;
  HostAmount host_per_rank = {};
  // The longest time for which the job holds its slots. 0: unknown.
  int64_t longest_hold_ms = 0;
  // The parent of the checkpoint directory, which all nodes of the job must see.
  std::string checkpoint_parent;
  // The nodes on which the job may run (PlacementKey). Empty: all nodes.
  std::string placement;
  // The array of which the job is an element; 0: none. All elements of an array have the place of
  // the array in the queue.
  int64_t array_id = 0;
  // The number of a job that has run before, whose layout the controller chooses, that is elastic,
  // or for which other jobs were preempted. The placement of such a job depends on the job itself,
  // so it is alone in its class. 0 for all other jobs.
  int64_t only_job = 0;
  friend auto operator<=>(const JobClass&, const JobClass&) = default;
};

// The numbers of the jobs of each class.
using JobsByClass = std::map<JobClass, std::set<int64_t>>;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOB_CLASS_H_
