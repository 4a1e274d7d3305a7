// The report of a directory of `data mix`.
#ifndef TRAINYARD_DATA_REPORT_MIX_STEP_H_
#define TRAINYARD_DATA_REPORT_MIX_STEP_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/report/step.h"

namespace trainyard::data {

// True if the directory contains mix.json.
bool IsMixDirectory(const std::string& directory);

// Reads mix.json, and the descriptions of the data sets to find changed ones. Returns DataLoss if
// mix.json is damaged or has another version.
absl::StatusOr<StepReport> ReadMixStep(const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_MIX_STEP_H_
