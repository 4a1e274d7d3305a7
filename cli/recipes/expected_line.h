// Parses and writes the lines of a recipe that state the planner's prediction for one GPU model:
//   # Expected on H100: 8 x 8 (ndr), 70553706496 parameters, 31.2k tokens/s, MFU 22.8 %, 55.1 GB a
//   GPU.
#ifndef TRAINYARD_CLI_RECIPES_EXPECTED_LINE_H_
#define TRAINYARD_CLI_RECIPES_EXPECTED_LINE_H_

#include <string>
#include <vector>

#include "controller/planner/cluster.h"
#include "controller/planner/run_estimate.h"
#include "proto/contract/run_config.h"
#include "proto/memory/memory_model.h"

namespace trainyard::cli {

struct ExpectedLine {
  std::string device;   // As written.
  std::string text;     // The whole line.
  size_t position = 0;  // Offset of the line's first byte in the file.
};

// Returns the comments that begin with "# Expected on DEVICE:".
std::vector<ExpectedLine> FindExpectedLines(const std::string& recipe);

// The predicted speed and memory of a run with the layout in its job file.
struct Expectation {
  planner::RunEstimate run;
  MemoryPrediction memory;
};
// `config` must be resolved and valid. The device must support the precision.
Expectation ExpectationOf(const RunConfig& config, const planner::Cluster& cluster);

std::string ExpectedText(const RunConfig& config, const planner::Cluster& cluster);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_EXPECTED_LINE_H_
