// A network tree for tests: one spine with two leaves of different sizes.
#ifndef TRAINYARD_TESTS_CONTROLLER_PLANNER_UNEVEN_TREE_H_
#define TRAINYARD_TESTS_CONTROLLER_PLANNER_UNEVEN_TREE_H_

#include "controller/planner/network_tree.h"

namespace trainyard::planner {

// Eight nodes of eight devices. The first leaf has five nodes, the second has three. The spine is
// oversubscribed by four.
inline NetworkTreeParts UnevenTree() {
  NetworkTreeParts parts;
  parts.levels = {{"outside the groups", 10e9, 30e-6, false},
                  {"spine", 12.5e9, 20e-6, true},
                  {"leaf", 50e9, 8e-6, true}};
  parts.groups = {{1, -1}, {2, 0}, {2, 0}};
  parts.group_of_node = {1, 1, 1, 1, 1, 2, 2, 2};
  parts.per_node = 8;
  return parts;
}

}  // namespace trainyard::planner

#endif  // TRAINYARD_TESTS_CONTROLLER_PLANNER_UNEVEN_TREE_H_
