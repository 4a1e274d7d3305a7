#include "cli/commands/cluster_options.h"

#include "absl/strings/str_cat.h"
#include "cli/recipes/calibration_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

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
