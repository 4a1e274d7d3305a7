#include "worker/tail/data_report_line.h"

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/data_report.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {

absl::Status ReadDataReport(const TelemetryValues& values, v1::DataReportRecord& record) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t number, Step(values, telemetry::kNumber));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t part, Count(values, telemetry::kPart));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t parts, Count(values, telemetry::kParts));
  if (number < 1 || part < 1 || part > parts || parts > kMaxDataReportParts) {
    return absl::InvalidArgumentError(
        absl::StrCat("`number` must be at least 1, `part` from 1 to `parts`, and `parts` at most ",
                     kMaxDataReportParts));
  }
  const auto found = values.find(telemetry::kText);
  const auto* text = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (text == nullptr || text->size() > kMaxDataReportPartBytes) {
    return Missing(telemetry::kText,
                   absl::StrCat("a text of at most ", kMaxDataReportPartBytes, " bytes"));
  }
  record.set_number(number);
  record.set_part(static_cast<int32_t>(part));
  record.set_parts(static_cast<int32_t>(parts));
  record.set_text(*text);
  return absl::OkStatus();
}

}  // namespace trainyard::worker
