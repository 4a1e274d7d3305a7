// Options, such as --device, that describe the cluster for planning commands.
#ifndef TRAINYARD_CLI_GRAMMAR_CLUSTER_OPTIONS_H_
#define TRAINYARD_CLI_GRAMMAR_CLUSTER_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/context/context.h"
#include "cli/grammar/grammar.h"
#include "controller/planner/answer/cluster_request.h"

namespace trainyard::cli {

// The cluster to plan for. The cluster need not exist.
struct ClusterOptions {
  planner::ClusterRequest request;
  std::string calibration;  // File of measured corrections; empty for none.
};

// Adds --device and the other cluster options. Returns the option --device, which the other options
// require.
CLI::Option* AddClusterOptions(CLI::App& command, ClusterOptions& options);

// Returns the cluster. If a calibration file is named, applies the file's corrections. Returns
// INVALID_ARGUMENT if that file cannot be read.
absl::StatusOr<planner::ClusterRequest> ClusterRequestOf(const ClusterOptions& options);

// If no entry of the device table has the exact name of the device, prints which entry is used.
void PrintDeviceNote(const planner::Cluster& cluster, Console& console);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_CLUSTER_OPTIONS_H_
