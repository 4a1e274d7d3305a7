// Duration of one micro-batch in one block and in the head on one rank. Pure functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_PASS_SECONDS_H_
#define TRAINYARD_CONTROLLER_PLANNER_PASS_SECONDS_H_

#include "controller/planner/block_work.h"
#include "controller/planner/cluster.h"
#include "controller/planner/trainer_profile.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// The rank's own work, and the visible part of its transfers.
struct PassParts {
  double compute = 0;
  double tensor = 0;
  double context = 0;
  double expert = 0;  // Rows sent to experts and back.

  double Total() const { return compute + tensor + context + expert; }
  PassParts& operator+=(const PassParts& other);
};
PassParts operator*(double factor, PassParts parts);
PassParts operator+(PassParts left, const PassParts& right);

// Durations for one micro-batch.
struct PassSeconds {
  PassParts block_forward;
  PassParts block_backward;   // Input and weight gradients.
  PassParts block_selective;  // Repeated with selective recomputation.
  PassParts block_full;       // Repeated with full recomputation.
  PassParts head;             // Forward, loss and backward.
  PassParts embedding;
};

// `config` must be resolved. Does not depend on dp, pp, vpp, zero and recompute of its layout.
PassSeconds SecondsOfPass(const BlockWork& work, const RunConfig& config, const Cluster& cluster,
                          const TrainerProfile& profile);

// Bytes per second of memory-bound work.
double MemoryRate(const Cluster& cluster, const TrainerProfile& profile);

// FLOP/s (data sheet); 0 if the device does not support the precision.
double PeakFlops(Precision precision, const DeviceSpec& device);
// Peak rate of the matrix products in the blocks, which may use FP8.
double PeakFlops(const TrainConfig& train, const DeviceSpec& device);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_PASS_SECONDS_H_
