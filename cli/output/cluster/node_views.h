// Nodes as tables and texts.
#ifndef TRAINYARD_CLI_OUTPUT_CLUSTER_NODE_VIEWS_H_
#define TRAINYARD_CLI_OUTPUT_CLUSTER_NODE_VIEWS_H_

#include <string>

#include "cli/output/terminal/table.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::cli {

Listing NodeListing(const v1::ListNodesResponse& response, Timestamp now);

// Returns all known facts about one node. The names of the jobs on it are in the response
// (`job_names`).
std::string NodeText(const v1::Node& node, const v1::ListNodesResponse& response, Timestamp now);

// Returns the command line that uncordons the node.
std::string UncordonCommand(const v1::Node& node);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_CLUSTER_NODE_VIEWS_H_
