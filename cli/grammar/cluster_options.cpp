#include "cli/grammar/cluster_options.h"

#include "absl/strings/str_cat.h"
#include "cli/recipes/calibration_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

CLI::Option* AddClusterOptions(CLI::App& command, ClusterOptions& options) {
  CLI::Option* device =
      command.add_option("--device", options.request.device,
                         "find the best layout on GPUs such as H200, without a controller");
  command.add_option("--nodes", options.request.nodes, "nodes of that cluster (resources.nodes)")
      ->check(CLI::Range(1, 16384))
      ->needs(device);
  command.add_option("--per-node", options.request.per_node, "GPUs of each of its nodes (8)")
      ->check(CLI::Range(1, 1024))
      ->needs(device);
  command
      .add_option("--network", options.request.network,
                  "network between its nodes, such as ndr or roce400 (the device's usual one)")
      ->needs(device);
  command
      .add_option("--storage", options.request.storage,
                  "of the token files: nvme, nfs or object (nvme)")
      ->needs(device);
  command
      .add_option("--calibration", options.calibration,
                  "file of `trainyard tune --calibrate`, by which times are corrected")
      ->needs(device)
      ->type_name("FILE");
  return device;
}

absl::StatusOr<planner::ClusterRequest> ClusterRequestOf(const ClusterOptions& options) {
  planner::ClusterRequest request = options.request;
  if (!options.calibration.empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(request.calibration, ReadCalibration(options.calibration));
  }
  return request;
}

void PrintDeviceNote(const planner::Cluster& cluster, Console& console) {
  if (!cluster.device_note.empty()) {
    PrintNote(console, absl::StrCat("note: ", cluster.device_note));
  }
}

}  // namespace trainyard::cli
