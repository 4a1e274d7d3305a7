// The results of a sweep of settings as a table and as a document.
#ifndef TRAINYARD_CLI_OUTPUT_TUNE_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_TUNE_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/output/table.h"
#include "controller/planner/cluster.h"
#include "controller/planner/finding.h"
#include "controller/planner/tuning.h"
#include "nlohmann/json.hpp"
#include "proto/contract/run_config.h"

namespace trainyard::cli {

// A sweep that was measured.
struct TuneReport {
  RunConfig config;  // As the job file has it.
  planner::Cluster cluster;
  bool has_predictions = true;  // False where the device's times are not predicted.
  std::vector<planner::TuneResult> results;
  std::vector<int64_t> jobs;  // Of each result; empty where no jobs ran.
  int64_t considered = 0;
  int64_t too_large = 0;
  std::optional<size_t> chosen;            // Of the results.
  std::vector<planner::Finding> findings;  // About the chosen one.
  std::string substituted_data;
};

// A row for each result: setting, tokens/s, MFU, memory, predicted, error, and what it is.
Listing TuneListing(const TuneReport& report);

// The choice, the limit of the memory, and advice, in lines.
std::string TuneSummary(const TuneReport& report);

// All keys are always there.
nlohmann::json TuneDocument(const TuneReport& report);

// A job file with the chosen settings that extends the job. There is a choice.
std::string TuneOverlay(const TuneReport& report, const std::string& extends,
                        const std::string& header);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TUNE_VIEW_H_
