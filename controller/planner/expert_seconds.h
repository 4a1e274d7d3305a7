// The time that one rank needs for one micro-batch in the experts of a block: router, sorting of
// rows, products, and the transfer of rows between the ranks of the experts.
#ifndef TRAINYARD_CONTROLLER_PLANNER_EXPERT_SECONDS_H_
#define TRAINYARD_CONTROLLER_PLANNER_EXPERT_SECONDS_H_

#include "controller/planner/block_work.h"
#include "controller/planner/cluster.h"
#include "controller/planner/kernel_seconds.h"
#include "controller/planner/pass_parts.h"
#include "controller/planner/trainer_profile.h"

namespace trainyard::planner {

struct ExpertSeconds {
  PassParts forward;
  PassParts backward;
  PassParts selective;  // Repeated work with selective recomputation.
  PassParts full;       // Repeated work with full recomputation, which keeps the choice of experts.
};

// Returns zeros for a block without experts.
ExpertSeconds SecondsOfExperts(const BlockWork& work, const Kernels& kernels,
                               const Cluster& cluster, const TrainerProfile& profile);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_EXPERT_SECONDS_H_
