// The report of a directory of token files.
#ifndef TRAINYARD_DATA_REPORT_DATASET_STEP_H_
#define TRAINYARD_DATA_REPORT_DATASET_STEP_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/report/step.h"

namespace trainyard::data {

// Reads the description of the token files and provenance.json, which older data sets lack. Returns
// the errors of ReadDescription, and DataLoss if provenance.json is damaged.
absl::StatusOr<StepReport> ReadDatasetStep(const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_DATASET_STEP_H_
