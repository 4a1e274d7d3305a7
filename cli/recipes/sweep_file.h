// Files for running a `trainyard tune` sweep on a machine without daemons. `tune --sweep` writes a
// file of runs. On that machine, tests/gpu/sweep.py adds the measurements to the file. `tune
// --measured` evaluates the measurements.
#ifndef TRAINYARD_CLI_RECIPES_SWEEP_FILE_H_
#define TRAINYARD_CLI_RECIPES_SWEEP_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

struct SweepRun {
  std::string settings;  // Text from planner::CandidateText.
  nlohmann::json spec;   // Spec for the trainer. Lacks `data` if the job names none.
  // Reason why the run has no measurements; empty if it has some.
  std::string failure;
  // Values of each metric in step order, under the trainer's metric names.
  std::map<std::string, std::vector<double>> metrics;
};

struct Sweep {
  std::string device;   // Name of the device's DeviceSpec; "cpu" for CPU slots.
  int64_t steps = 0;    // The number of steps per run.
  int64_t layouts = 0;  // Maximum number of layouts that was requested.
  std::string date;     // Date of the measurement, such as 2026-11-27; empty before it.
  std::string data;     // Tokens used instead of the job's data; empty if its data was used.
  std::vector<SweepRun> runs;
};

// Returns the file of a sweep that has not run: the file contains no failures and no metrics.
std::string SweepText(const Sweep& sweep);

// Reads a sweep that was run. If a run has neither measurements nor a failure, sets its failure to
// "this run was not measured". Returns INVALID_ARGUMENT if the file cannot be read, is not a sweep,
// or contains no measurements.
absl::StatusOr<Sweep> ReadSweep(const std::string& path);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_SWEEP_FILE_H_
