// The cluster that planning commands name by --device and its companions.
#ifndef TRAINYARD_CLI_COMMANDS_CLUSTER_OPTIONS_H_
#define TRAINYARD_CLI_COMMANDS_CLUSTER_OPTIONS_H_

#include "absl/status/statusor.h"
#include "cli/commands/commands.h"

namespace trainyard::cli {

// With the calibration that its file holds. INVALID_ARGUMENT for a file that cannot be read.
absl::StatusOr<planner::ClusterRequest> ClusterRequestOf(const ClusterOptions& options);

// Names the entry of the device table that stands for a device of another name.
void PrintDeviceNote(const planner::Cluster& cluster, Console& console);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CLUSTER_OPTIONS_H_
