// The chain of steps that produced a data set.
#ifndef TRAINYARD_DATA_REPORT_CHAIN_H_
#define TRAINYARD_DATA_REPORT_CHAIN_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/report/step.h"

namespace trainyard::data {

struct ChainReport {
  static constexpr size_t kStepsMax = 100;

  // Each step comes after the steps that wrote its inputs. The last one wrote the data set.
  std::vector<StepReport> steps;
  bool omits_steps = false;  // there are more than kStepsMax
};

// Reads the step that wrote `directory`, and those that wrote its inputs. Steps whose directories
// are missing or damaged become problems of the steps that used them. Returns NotFound if the
// directory contains neither a run nor token files, and the errors of ReadRunStep and
// ReadDatasetStep.
absl::StatusOr<ChainReport> ReadChain(const std::string& directory);

// Returns the report in the format of README.md.
nlohmann::ordered_json ChainDocument(const ChainReport& report);
// Returns the report as text, with a newline at the end.
std::string ChainJson(const ChainReport& report);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_CHAIN_H_
