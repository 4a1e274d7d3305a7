// Plans a cluster with several kinds of device as if it had a single kind. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_MIXED_DEVICE_H_
#define TRAINYARD_CONTROLLER_PLANNER_MIXED_DEVICE_H_

#include <span>

#include "controller/planner/cluster.h"

namespace trainyard::planner {

// One device's figures, for planning a cluster with several kinds of device. Ranks run in lockstep,
// so all of them wait for the slowest kind, and a layout must fit on the smallest kind. Therefore
// each figure is the lowest of all kinds, and different figures may come from different kinds. Must
// not be copied: the copy's `spec` would refer to the rating of the original.
struct MixedDevice {
  DeviceRating rating;
  DeviceSpec spec;
};

// Sets `rating`, and `spec`, which refers to `rating`. The name is the name of the kind with the
// slowest matrix products. `devices` must not be empty.
void MixDevices(std::span<const DeviceSpec* const> devices, MixedDevice& mixed);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_MIXED_DEVICE_H_
