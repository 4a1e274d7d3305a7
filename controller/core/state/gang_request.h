// Nodes and slots that a gang needs.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_GANG_SHAPE_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_GANG_SHAPE_H_

#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// Nodes and slots that a gang needs.
struct GangShape {
  // Including spare nodes.
  int nodes = 0;
  int slots_per_node = 0;
  v1::DeviceKind kind = v1::DEVICE_KIND_UNSPECIFIED;
};
GangShape ShapeOf(const v1::JobSpec& spec);
// Minimum shape for a recovering job: a gang without spare nodes.
GangShape ShapeWithoutSpares(const v1::JobSpec& spec);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_GANG_SHAPE_H_
