#include "cli/commands/cluster_options.h"

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

}  // namespace trainyard::cli
