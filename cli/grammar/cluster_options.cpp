#include "cli/grammar/cluster_options.h"

#include "absl/strings/str_cat.h"
#include "cli/recipes/calibration_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

CLI::Option* AddClusterOptions(CLI::App& command, ClusterOptions& options) {
  CLI::Option* device =
      command.add_option("--device", options.request.device,
                         "GPU type to plan for, such as H200; no controller is needed");
  command
      .add_option("--nodes", options.request.nodes, "number of nodes (default: resources.nodes)")
      ->check(CLI::Range(1, 16384))
      ->needs(device);
  command.add_option("--per-node", options.request.per_node, "GPUs per node (default: 8)")
      ->check(CLI::Range(1, 1024))
      ->needs(device);
  command
      .add_option("--network", options.request.network,
                  "network between the nodes, such as ndr or roce400 (default: the usual network "
                  "for this GPU type)")
      ->needs(device);
  command
      .add_option("--storage", options.request.storage,
                  "storage of the token files: nvme, nfs or object (default: nvme)")
      ->needs(device);
  command
      .add_option("--calibration", options.calibration,
                  "calibration file from `trainyard tune --calibrate`, to correct predicted times")
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
