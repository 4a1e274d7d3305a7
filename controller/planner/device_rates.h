// Rates of a device: peaks of its data sheet, and the share of its bandwidth that kernels reach.
#ifndef TRAINYARD_CONTROLLER_PLANNER_DEVICE_RATES_H_
#define TRAINYARD_CONTROLLER_PLANNER_DEVICE_RATES_H_

#include "controller/planner/cluster.h"
#include "controller/planner/trainer_profile.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Returns the bytes per second that memory-bound work reaches.
double MemoryRate(const Cluster& cluster, const TrainerProfile& profile);

// Returns the peak FLOP/s according to the data sheet. Returns 0 if the device does not support the
// precision.
double PeakFlops(Precision precision, const DeviceSpec& device);
// Returns the peak FLOP/s of the matrix products in the blocks, which may use FP8.
double PeakFlops(const TrainConfig& train, const DeviceSpec& device);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_DEVICE_RATES_H_
