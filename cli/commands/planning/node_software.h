// Names the nodes that lack software which a job requests.
#ifndef TRAINYARD_CLI_COMMANDS_PLANNING_NODE_SOFTWARE_H_
#define TRAINYARD_CLI_COMMANDS_PLANNING_NODE_SOFTWARE_H_

#include <string>

#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::cli {

// Returns a sentence with the nodes whose workers report that they lack the job's container
// launcher; empty if there are none. Nodes of older releases report nothing and are not named.
std::string MissingLauncherText(const v1::JobSpec& spec, const v1::CheckNodesResponse& checks);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLANNING_NODE_SOFTWARE_H_
