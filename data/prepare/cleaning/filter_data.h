// `trainyard data filter`: keeps the documents that pass quality rules.
#ifndef TRAINYARD_DATA_PREPARE_CLEANING_FILTER_DATA_H_
#define TRAINYARD_DATA_PREPARE_CLEANING_FILTER_DATA_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"

namespace trainyard::data {

struct FilteredRule {
  std::string name;
  int64_t documents = 0;
  int64_t bytes = 0;                 // of text
  std::vector<std::string> samples;  // "FILE:LINE"; "FILE" for plain text
};

struct FilterSummary {
  std::string directory;
  int64_t files = 0;
  int64_t documents_in = 0;
  int64_t documents_out = 0;
  int64_t bytes_in = 0;  // of text
  int64_t bytes_out = 0;
  std::vector<FilteredRule> rules;  // in the order of the checks
  std::string bad_lines;            // BadLineLog::Summary; empty if there are none
  int64_t repaired = 0;             // lines and files with replaced bytes
};

// Writes a directory of data/stages. Continues an earlier run of the same command. Errors are those
// of Filter::Load, CheckOutsideInputs, FindInputFiles and RunStage.
absl::StatusOr<FilterSummary> FilterData(const FilterOptions& options, Progress* progress,
                                         const std::atomic<bool>& cancelled);

// Returns the result for the user, with a newline at the end.
std::string FilterText(const FilterSummary& summary);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_CLEANING_FILTER_DATA_H_
