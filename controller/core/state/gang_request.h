// The request of a job for nodes and slots.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_GANG_REQUEST_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_GANG_REQUEST_H_

#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// Nodes and slots of one gang.
struct GangShape {
  // Including spare nodes.
  int nodes = 0;
  int slots_per_node = 0;
  v1::DeviceKind kind = v1::DEVICE_KIND_UNSPECIFIED;
};

// Range of shapes that a job accepts. The attempt records the granted shape: its ranks and layout.
struct GangRequest {
  // Fewest nodes that a job that has run before may continue on. Smaller than `nodes` only with
  // auto_layout.
  int min_nodes = 0;
  // Nodes that train.
  int nodes = 0;
  // `nodes` and the spare nodes.
  int max_nodes = 0;
  int slots_per_node = 0;
  v1::DeviceKind kind = v1::DEVICE_KIND_UNSPECIFIED;
  // The controller chooses the layout.
  bool auto_layout = false;

  int Spares() const { return max_nodes - nodes; }
  GangShape ShapeOn(int node_count) const { return {node_count, slots_per_node, kind}; }
  // The shape of a first attempt.
  GangShape Full() const { return ShapeOn(max_nodes); }
  GangShape WithoutSpares() const { return ShapeOn(nodes); }
};

// The request of a job. No other code derives it from the spec.
GangRequest GangRequestOf(const v1::JobSpec& spec);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_GANG_REQUEST_H_
