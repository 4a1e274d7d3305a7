// The results of a settings sweep as a table and as a document.
#ifndef TRAINYARD_CLI_OUTPUT_PLANS_TUNE_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_PLANS_TUNE_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/output/terminal/table.h"
#include "controller/planner/cluster.h"
#include "controller/planner/finding.h"
#include "controller/planner/tuning.h"
#include "nlohmann/json.hpp"
#include "proto/contract/run_config.h"

namespace trainyard::cli {

// A measured sweep.
struct TuneReport {
  RunConfig config;  // The settings in the job file.
  planner::Cluster cluster;
  bool has_predictions = true;  // False if the planner cannot predict times for the device.
  std::vector<planner::TuneResult> results;
  std::vector<int64_t> jobs;  // The job of each result; empty if no jobs ran.
  int64_t considered = 0;
  int64_t too_large = 0;
  std::optional<size_t> chosen;            // Index in results.
  std::vector<planner::Finding> findings;  // About the chosen result.
  std::string substituted_data;
};

// One row per result: setting, tokens/s, MFU, memory, predicted tokens/s, error and remark.
Listing TuneListing(const TuneReport& report);

// Lines that state the chosen settings, the memory limit and advice.
std::string TuneSummary(const TuneReport& report);

// All keys are always present.
nlohmann::json TuneDocument(const TuneReport& report);

// Returns a job file that extends the job by the chosen settings. The report must have a chosen
// result.
std::string TuneOverlay(const TuneReport& report, const std::string& extends,
                        const std::string& header);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PLANS_TUNE_VIEW_H_
