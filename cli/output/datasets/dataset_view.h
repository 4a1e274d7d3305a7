// Formats the report of a data set. data/report/README.md describes its JSON.
#ifndef TRAINYARD_CLI_OUTPUT_DATASETS_DATASET_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_DATASETS_DATASET_VIEW_H_

#include <string>
#include <vector>

#include "cli/output/terminal/table.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

// Returns one row per step, per reason of drops and per split of token files. A program of another
// release may have written the report, so that keys with unexpected types count as missing.
Listing DatasetListing(const nlohmann::json& report);

// Returns the problems of all steps.
std::vector<std::string> DatasetProblems(const nlohmann::json& report);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_DATASETS_DATASET_VIEW_H_
