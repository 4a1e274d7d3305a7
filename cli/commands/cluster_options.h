// The cluster of planning commands, given by --device and related options.
#ifndef TRAINYARD_CLI_COMMANDS_CLUSTER_OPTIONS_H_
#define TRAINYARD_CLI_COMMANDS_CLUSTER_OPTIONS_H_

#include "absl/status/statusor.h"
#include "cli/commands/commands.h"

namespace trainyard::cli {

// Includes the calibration in the file of `options`. INVALID_ARGUMENT if the file cannot be read.
absl::StatusOr<planner::ClusterRequest> ClusterRequestOf(const ClusterOptions& options);

// Prints which entry of the device table represents a device with another name.
void PrintDeviceNote(const planner::Cluster& cluster, Console& console);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_CLUSTER_OPTIONS_H_
