// Calibration files. `tune --calibrate` writes them and `plan --calibration` reads them.
#ifndef TRAINYARD_CLI_RECIPES_CALIBRATION_FILE_H_
#define TRAINYARD_CLI_RECIPES_CALIBRATION_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/planner/calibration.h"
#include "controller/planner/cluster.h"

namespace trainyard::cli {

// Returns the calibration as YAML. The lines of `header` come first, as comments.
std::string CalibrationText(const planner::Calibration& calibration, const std::string& header);

// Returns INVALID_ARGUMENT if the file cannot be read or its contents are invalid. The error for
// invalid contents has the line number.
absl::StatusOr<planner::Calibration> ReadCalibration(const std::string& path);

// Applies the calibration file to the cluster, so that predictions for the cluster use the file's
// corrections. An empty path does nothing. Returns INVALID_ARGUMENT if the file cannot be read, is
// invalid or is for another device.
absl::Status ApplyCalibration(const std::string& path, planner::Cluster& cluster);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_CALIBRATION_FILE_H_
