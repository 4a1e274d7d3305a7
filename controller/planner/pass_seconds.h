// The time that one rank needs for one micro-batch in a block and in the head. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_PASS_SECONDS_H_
#define TRAINYARD_CONTROLLER_PLANNER_PASS_SECONDS_H_

#include "controller/planner/block_work.h"
#include "controller/planner/cluster.h"
#include "controller/planner/trainer_profile.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// The time of the rank's own work, and of those parts of its transfers that do not overlap this
// work.
struct PassParts {
  double compute = 0;
  double tensor = 0;
  double context = 0;
  double expert = 0;  // Transfers of rows to experts and back.

  double Total() const { return compute + tensor + context + expert; }
  PassParts& operator+=(const PassParts& other);
};
PassParts operator*(double factor, PassParts parts);
PassParts operator+(PassParts left, const PassParts& right);

// The durations for one micro-batch.
struct PassSeconds {
  PassParts block_forward;
  PassParts block_backward;   // Input and weight gradients.
  PassParts block_selective;  // Repeated work with selective recomputation.
  PassParts block_full;       // Repeated work with full recomputation.
  PassParts head;             // Forward pass, loss and backward pass.
  PassParts embedding;
};

// `config` must be resolved. The result does not depend on dp, pp, vpp, zero and recompute in the
// layout.
PassSeconds SecondsOfPass(const BlockWork& work, const RunConfig& config, const Cluster& cluster,
                          const TrainerProfile& profile);

// Returns the bytes per second that memory-bound work reaches.
double MemoryRate(const Cluster& cluster, const TrainerProfile& profile);

// Returns the peak FLOP/s according to the data sheet. Returns 0 if the device does not support the
// precision.
double PeakFlops(Precision precision, const DeviceSpec& device);
// Returns the peak FLOP/s of the matrix products in the blocks, which may use FP8.
double PeakFlops(const TrainConfig& train, const DeviceSpec& device);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_PASS_SECONDS_H_
