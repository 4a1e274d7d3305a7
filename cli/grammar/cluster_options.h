// The cluster for planning commands, which --device and related options describe.
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

// Returns the cluster with the calibration from the file that `options` name. Returns
// INVALID_ARGUMENT if the file cannot be read.
absl::StatusOr<planner::ClusterRequest> ClusterRequestOf(const ClusterOptions& options);

// If the device is not in the device table under its own name, prints which entry is used for it.
void PrintDeviceNote(const planner::Cluster& cluster, Console& console);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_CLUSTER_OPTIONS_H_
