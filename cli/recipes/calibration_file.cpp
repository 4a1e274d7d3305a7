#include "cli/recipes/calibration_file.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/answer/cluster_request.h"
#include "proto/support/status_macros.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::cli {
namespace {

constexpr char kDevice[] = "device";
constexpr char kRuns[] = "runs";
constexpr char kErrorBefore[] = "error_before";
constexpr char kErrorAfter[] = "error_after";
constexpr char kScale[] = "scale";
// A scale outside these limits cannot be a correction. The file must describe another device.
constexpr double kLeastScale = 1e-3;
constexpr double kMostScale = 1e6;

absl::Status Wrong(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": ", what, "\n`trainyard tune RECIPE --calibrate ", path, "` creates one"));
}

absl::StatusOr<double> NumberAt(const YAML::Node& map, const char* key, const std::string& path) {
  const YAML::Node node = map[key];
  double value = 0;
  if (!node.IsDefined() || !node.IsScalar() || !YAML::convert<double>::decode(node, value) ||
      !std::isfinite(value)) {
    return Wrong(path, absl::StrCat("`", key, "` must be a number"));
  }
  return value;
}

// Reads the factors. A file of an earlier version lacks the parts that were added later, and these
// parts keep the factor 1.
absl::StatusOr<planner::StepScale> ScaleAt(const YAML::Node& map, const std::string& path) {
  planner::StepScale scale;
  absl::Status status;
  size_t known = 0;
  planner::VisitScale(scale, [&](const char* key, double& value) {
    if (!map[key].IsDefined()) return;
    ++known;
    const absl::StatusOr<double> number = NumberAt(map, key, path);
    if (!number.ok()) {
      status = number.status();
    } else if (*number < kLeastScale || *number > kMostScale) {
      status = Wrong(
          path, absl::StrCat("`scale.", key, "` must be from ", kLeastScale, " to ", kMostScale));
    } else {
      value = *number;
    }
  });
  TRAINYARD_RETURN_IF_ERROR(status);
  if (known != map.size()) {
    return Wrong(path, "`scale` contains a key that is not a part of a step");
  }
  return scale;
}

absl::StatusOr<planner::Calibration> Parse(const YAML::Node& root, const std::string& path) {
  if (!root.IsMap() || !root[kDevice].IsDefined() || !root[kDevice].IsScalar() ||
      !root[kScale].IsDefined() || !root[kScale].IsMap()) {
    return Wrong(path, "not a calibration: `device` or `scale` is missing");
  }
  planner::Calibration calibration;
  calibration.device = root[kDevice].Scalar();
  TRAINYARD_ASSIGN_OR_RETURN(calibration.scale, ScaleAt(root[kScale], path));
  TRAINYARD_ASSIGN_OR_RETURN(const double runs, NumberAt(root, kRuns, path));
  calibration.runs = std::llround(runs);
  TRAINYARD_ASSIGN_OR_RETURN(calibration.error_before, NumberAt(root, kErrorBefore, path));
  TRAINYARD_ASSIGN_OR_RETURN(calibration.error_after, NumberAt(root, kErrorAfter, path));
  return calibration;
}

}  // namespace

std::string CalibrationText(const planner::Calibration& calibration, const std::string& header) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(header, '\n')) {
    absl::StrAppend(&text, "# ", line, "\n");
  }
  absl::StrAppend(&text, kDevice, ": ", calibration.device, "\n", kRuns, ": ", calibration.runs,
                  "\n", kErrorBefore, ": ", NumberText(calibration.error_before, 4), "\n",
                  kErrorAfter, ": ", NumberText(calibration.error_after, 4), "\n", kScale, ":\n");
  planner::VisitScale(calibration.scale, [&](const char* key, double value) {
    absl::StrAppend(&text, "  ", key, ": ", NumberText(value, 6), "\n");
  });
  return text;
}

absl::StatusOr<planner::Calibration> ReadCalibration(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Wrong(path, "cannot be opened");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return Parse(YAML::Load(text), path);
  } catch (const YAML::Exception& error) {
    return Wrong(path, error.what());
  }
}

absl::Status ApplyCalibration(const std::string& path, planner::Cluster& cluster) {
  if (path.empty()) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const planner::Calibration calibration, ReadCalibration(path));
  const absl::Status status = planner::ApplyCalibration(calibration, cluster);
  return status.ok() ? status : Wrong(path, status.message());
}

}  // namespace trainyard::cli
