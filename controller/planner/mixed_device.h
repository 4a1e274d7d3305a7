// A cluster with several kinds of device, planned as a single kind. Pure.
#ifndef TRAINYARD_CONTROLLER_PLANNER_MIXED_DEVICE_H_
#define TRAINYARD_CONTROLLER_PLANNER_MIXED_DEVICE_H_

#include <span>

#include "controller/planner/cluster.h"

namespace trainyard::planner {

// Figures for planning with several kinds of device. Ranks run in lockstep, so all wait for the
// slowest kind, and a layout must fit on the smallest. Each figure is therefore the lowest of any
// kind; different figures may come from different kinds. In a copy, `spec` still refers to the
// rating of the original.
struct MixedDevice {
  DeviceRating rating;
  DeviceSpec spec;
};

// Sets `rating` and `spec`, which refers to it. The name is that of the kind with the slowest
// matrix products. `devices` must not be empty.
void MixDevices(std::span<const DeviceSpec* const> devices, MixedDevice& mixed);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_MIXED_DEVICE_H_
