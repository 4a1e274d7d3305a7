// The report of a run's directory.
#ifndef TRAINYARD_DATA_REPORT_RUN_STEP_H_
#define TRAINYARD_DATA_REPORT_RUN_STEP_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/report/step.h"

namespace trainyard::data {

// Reads plan.json, records.log and report.json, but no documents. Returns the errors of ReadRun.
absl::StatusOr<StepReport> ReadRunStep(const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_RUN_STEP_H_
