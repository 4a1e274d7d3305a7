// The cluster of planning commands, given by --device and related options.
#ifndef TRAINYARD_CLI_GRAMMAR_CLUSTER_OPTIONS_H_
#define TRAINYARD_CLI_GRAMMAR_CLUSTER_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/context/context.h"
#include "cli/grammar/grammar.h"
#include "controller/planner/answer/cluster_request.h"

namespace trainyard::cli {

// Describes the cluster to plan for. The cluster need not exist.
struct ClusterOptions {
  planner::ClusterRequest request;
  std::string calibration;  // File of measured corrections; empty for none.
};

// Adds --device and related options. Returns the option --device, which the others require.
CLI::Option* AddClusterOptions(CLI::App& command, ClusterOptions& options);

// Includes the calibration in the file of `options`. INVALID_ARGUMENT if the file cannot be read.
absl::StatusOr<planner::ClusterRequest> ClusterRequestOf(const ClusterOptions& options);

// Prints which entry of the device table represents a device with another name.
void PrintDeviceNote(const planner::Cluster& cluster, Console& console);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_CLUSTER_OPTIONS_H_
