// Sweeps of `trainyard tune` on a machine without daemons. `tune --sweep` writes a file of runs, a
// program on that machine (tests/gpu/sweep.py) adds its measurements, and `tune --measured`
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
  std::string settings;  // As named by planner::CandidateText.
  nlohmann::json spec;   // The trainer's spec; without `data` if the job names none.
  // Reason why there are no measurements; empty if there are.
  std::string failure;
  // Measured values by the trainer's names, in step order.
  std::map<std::string, std::vector<double>> metrics;
};

struct Sweep {
  std::string device;   // Name of its DeviceSpec; "cpu" for CPU slots.
  int64_t steps = 0;    // Per run.
  int64_t layouts = 0;  // Maximum number, as requested.
  std::string date;     // Date of the measurement, such as 2026-11-27; empty before it.
  std::string data;     // Tokens that replaced the job's data; empty if none did.
  std::vector<SweepRun> runs;
};

// The sweep before it is run: without failures and metrics.
std::string SweepText(const Sweep& sweep);

// Reads a sweep that was run. A run with neither measurements nor a failure was not reached, and
// its failure is set to say so. INVALID_ARGUMENT if the file is unreadable, is not a sweep, or
// contains no measurement.
absl::StatusOr<Sweep> ReadSweep(const std::string& path);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_SWEEP_FILE_H_
