// `trainyard data report`: the steps that produced a data set, with their numbers.
#ifndef TRAINYARD_DATA_PREPARE_VIEWS_REPORT_DATA_H_
#define TRAINYARD_DATA_PREPARE_VIEWS_REPORT_DATA_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/report/chain.h"

namespace trainyard::data {

// Returns the report as text or JSON, with a newline at the end. Errors are those of ReadChain
// and ChooseTokenizer, and InvalidArgument for texts without JSON.
absl::StatusOr<std::string> ReportData(const ReportOptions& options);

// Returns the report for a user, with a newline at the end.
std::string ReportText(const ChainReport& report);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_VIEWS_REPORT_DATA_H_
