// Calibrations on disk, written by `tune --calibrate` and read by `plan --calibration`.
#ifndef TRAINYARD_CLI_RECIPES_CALIBRATION_FILE_H_
#define TRAINYARD_CLI_RECIPES_CALIBRATION_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/planner/calibration.h"
#include "controller/planner/cluster.h"

namespace trainyard::cli {

// The calibration as YAML, preceded by the lines of `header`, each as a comment ("# ").
std::string CalibrationText(const planner::Calibration& calibration, const std::string& header);

// INVALID_ARGUMENT, with the line, if the file is unreadable or has invalid contents.
absl::StatusOr<planner::Calibration> ReadCalibration(const std::string& path);

// Applies the calibration file to the cluster's predictions; does nothing if the path is empty.
// INVALID_ARGUMENT also for a calibration of another device.
absl::Status ApplyCalibration(const std::string& path, planner::Cluster& cluster);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_CALIBRATION_FILE_H_
