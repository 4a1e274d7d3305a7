#include "controller/http/topology_routes.h"

namespace trainyard::controller::http {

std::vector<Route> TopologyRoutes() {
  return {{.operation = Operation::kGetTopology,
           .id = "getTopology",
           .method = "GET",
           .path = "/topology",
           .summary = "Groups of the topology, with their nodes.",
           .command_line = "trainyard topology show",
           .response = "GetTopologyResponse"},
          {.operation = Operation::kSetTopology,
           .id = "setTopology",
           .method = "POST",
           .path = "/topology",
           .summary = "Replaces the topology. Without groups, the cluster has no topology.",
           .command_line = "trainyard topology set FILE",
           .request = "SetTopologyRequest",
           .response = "SetTopologyResponse"}};
}

}  // namespace trainyard::controller::http
