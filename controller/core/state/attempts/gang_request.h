// A job's request for nodes and slots.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_GANG_REQUEST_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_GANG_REQUEST_H_

#include <string>

#include "controller/core/state/host_amount.h"
#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/node.pb.h"

namespace trainyard::controller {

// The number of nodes of a gang, and the slots on each node.
struct GangShape {
  // Including spare nodes.
  int nodes = 0;
  int slots_per_node = 0;
  v1::DeviceKind kind = v1::DEVICE_KIND_UNSPECIFIED;
  // The only kind of device that the gang may use (node_devices.h). Empty: any kind.
  std::string device = {};
  // Requested by each rank.
  HostAmount host = {};

  HostAmount HostPerNode() const { return host * slots_per_node; }
};

// The range of shapes that a job accepts. The attempt records the shape that was granted, as its
// ranks and layout.
struct GangRequest {
  // The minimum number of nodes on which the job may continue after it has run once. Lower than
  // `nodes` only with auto_layout and for an elastic job.
  int min_nodes = 0;
  // Nodes that train. For an elastic job, the maximum.
  int nodes = 0;
  // The sum of `nodes` and the number of spare nodes.
  int max_nodes = 0;
  int slots_per_node = 0;
  v1::DeviceKind kind = v1::DEVICE_KIND_UNSPECIFIED;
  // True if the controller chooses the layout.
  bool auto_layout = false;
  // True if the job may start on any usable number of nodes from min_nodes to `nodes`
  // (proto/jobspec/rules/elastic_size.h). Such a job has no spares.
  bool elastic = false;
  // GangShape::device. Set only while a gang for one layout is searched.
  std::string device = {};
  // Requested by each rank.
  HostAmount host = {};

  int Spares() const { return max_nodes - nodes; }
  GangShape ShapeOn(int node_count) const {
    return {node_count, slots_per_node, kind, device, host};
  }
  // Returns the shape of a first attempt.
  GangShape Full() const { return ShapeOn(max_nodes); }
  GangShape WithoutSpares() const { return ShapeOn(nodes); }
  // Returns the smallest shape of a first attempt.
  GangShape Least() const { return elastic ? ShapeOn(min_nodes) : Full(); }
  // Returns the smallest shape of an attempt after a failure that excludes nodes.
  GangShape ToContinue() const { return elastic ? Least() : WithoutSpares(); }
};

// Returns the request of a job. No other code derives the request from the spec.
GangRequest GangRequestOf(const v1::JobSpec& spec);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_GANG_REQUEST_H_
