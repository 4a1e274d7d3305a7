// The time that one rank needs for one micro-batch in a block and in the head. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_PASS_SECONDS_H_
#define TRAINYARD_CONTROLLER_PLANNER_PASS_SECONDS_H_

#include "controller/planner/block_work.h"
#include "controller/planner/cluster.h"
#include "controller/planner/pass_parts.h"
#include "controller/planner/trainer_profile.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// The durations for one micro-batch.
struct PassSeconds {
  PassParts block_forward;
  PassParts block_backward;   // Input and weight gradients.
  PassParts block_selective;  // Repeated work with selective recomputation.
  PassParts block_full;       // Repeated work with full recomputation.
  PassParts head;             // Forward pass, loss and backward pass.
  PassParts embedding;
  // Both passes of a multi-token prediction module, without its block, head and embedding.
  PassParts mtp;
};

// `config` must be resolved. The result does not depend on dp, pp, vpp, zero and recompute in the
// layout.
PassSeconds SecondsOfPass(const BlockWork& work, const RunConfig& config, const Cluster& cluster,
                          const TrainerProfile& profile);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_PASS_SECONDS_H_
