// A cluster of several kinds of device, planned for as one kind. Pure.
#ifndef TRAINYARD_CONTROLLER_PLANNER_MIXED_DEVICE_H_
#define TRAINYARD_CONTROLLER_PLANNER_MIXED_DEVICE_H_

#include <span>

#include "controller/planner/cluster.h"

namespace trainyard::planner {

// Ranks work in step, so that all wait for the slowest, and a layout must fit on the smallest: of
// each figure the lowest of any kind. These need not be one kind's. Copies leave `spec` with the
// rating of the original.
struct MixedDevice {
  DeviceRating rating;
  DeviceSpec spec;
};

// `devices` is not empty. Sets rating and spec, which refers to it; the name is that of the kind
// with the lowest rate of matrix products.
void MixDevices(std::span<const DeviceSpec* const> devices, MixedDevice& mixed);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_MIXED_DEVICE_H_
