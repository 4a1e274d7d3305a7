// Calibrations on disk: `tune --calibrate` writes them, `plan --calibration` reads them.
#ifndef TRAINYARD_CLI_RECIPES_CALIBRATION_FILE_H_
#define TRAINYARD_CLI_RECIPES_CALIBRATION_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/planner/calibration.h"
#include "controller/planner/cluster.h"

namespace trainyard::cli {

// A comment line, "# " and `header`, for each line of the header; then the calibration as YAML.
std::string CalibrationText(const planner::Calibration& calibration, const std::string& header);

// INVALID_ARGUMENT, with the line, for a file that cannot be read or says what cannot be.
absl::StatusOr<planner::Calibration> ReadCalibration(const std::string& path);

// Makes the cluster's predictions those of the calibration file; does nothing without a path.
// INVALID_ARGUMENT also for a calibration of another device.
absl::Status ApplyCalibration(const std::string& path, planner::Cluster& cluster);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_CALIBRATION_FILE_H_
