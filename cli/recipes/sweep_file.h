// Sweeps of `trainyard tune` on a machine without daemons: `tune --sweep` writes a file of runs, a
// program on that machine (tests/gpu/sweep.py) adds to it what it measured, `tune --measured`
// judges.
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
  std::string settings;  // As planner::CandidateText names them.
  nlohmann::json spec;   // The trainer's; without `data` where the job names none.
  // Why there are no figures; empty where there are.
  std::string failure;
  // Measured values by the trainer's names, in the order of the steps.
  std::map<std::string, std::vector<double>> metrics;
};

struct Sweep {
  std::string device;   // Name of its DeviceSpec; "cpu" for slots of CPUs.
  int64_t steps = 0;    // Of a run.
  int64_t layouts = 0;  // At most, as they were asked for.
  std::string date;     // Of the measurement, as 2026-11-27; empty before it.
  std::string data;     // Tokens in the place of the job's; empty: none were substituted.
  std::vector<SweepRun> runs;
};

// To be run: without failures and metrics.
std::string SweepText(const Sweep& sweep);

// A sweep that was run. A run without figures and without a reason was not reached, which is its
// failure. INVALID_ARGUMENT for a file that cannot be read, that is no sweep, or of which nothing
// was measured.
absl::StatusOr<Sweep> ReadSweep(const std::string& path);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_SWEEP_FILE_H_
