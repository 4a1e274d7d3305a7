// Sweeps of `trainyard tune` on a machine without daemons. `tune --sweep` writes a file of runs. A
// program on that machine (tests/gpu/sweep.py) adds the measurements to it. `tune --measured`
// evaluates them.
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
  nlohmann::json spec;   // Spec for the trainer; has no `data` if the job names none.
  // Reason why there are no measurements; empty if there are some.
  std::string failure;
  // Measured values of each metric, under the trainer's names, in the order of steps.
  std::map<std::string, std::vector<double>> metrics;
};

struct Sweep {
  std::string device;   // Name of the device's DeviceSpec; "cpu" for CPU slots.
  int64_t steps = 0;    // Per run.
  int64_t layouts = 0;  // Requested maximum number of layouts.
  std::string date;     // Date of the measurement, such as 2026-11-27; empty if not measured yet.
  std::string data;     // Tokens used in place of the job's data; empty if none were.
  std::vector<SweepRun> runs;
};

// Returns the file of a sweep before its first run. The file contains no failures and no metrics.
std::string SweepText(const Sweep& sweep);

// Reads a sweep that was run. If a run has neither measurements nor a failure, the sweep ended
// before it, and its failure is set to state this. Returns INVALID_ARGUMENT if the file cannot be
// read, is not a sweep, or contains no measurement.
absl::StatusOr<Sweep> ReadSweep(const std::string& path);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_SWEEP_FILE_H_
