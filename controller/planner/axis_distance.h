// The distance between the ranks of each axis of a layout in the network. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_AXIS_DISTANCE_H_
#define TRAINYARD_CONTROLLER_PLANNER_AXIS_DISTANCE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/planner/cluster.h"
#include "proto/contract/layout_config.h"

namespace trainyard::planner {

struct AxisDistance {
  std::string_view axis;  // "tp", "cp", "dp", "pp" or "ep".
  int64_t ranks = 1;
  // The level of the largest groups whose switches the axis uses; empty if it stays within nodes.
  std::string crossed;
  std::string limit;  // The level or the link of a node that limits the bandwidth.
  // Bytes per second and rank in one direction, without the losses of a trainer (TrainerProfile).
  double bandwidth = 0;
  bool is_assumed = false;  // True if the limiting level has the bandwidth of the network.
};

// Returns the axes with several ranks: "tp", "cp", "dp", "pp", and "ep" for the ranks that share
// experts. The cluster must have a network tree.
std::vector<AxisDistance> DistancesOf(const LayoutConfig& layout, const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_AXIS_DISTANCE_H_
