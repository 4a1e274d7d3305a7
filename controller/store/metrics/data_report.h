// The parts of reports of data sets, and the rule by which they are kept.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_DATA_REPORT_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_DATA_REPORT_H_

#include <compare>
#include <cstdint>
#include <string>

#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

// The store keeps the newest complete report of a job, and the newest report while its parts
// arrive. Parts of older reports are dropped, so that a job has at most two reports.
struct DataReportKey {
  int64_t attempt = 0;
  int64_t number = 0;  // As DataReportRecord::number.

  friend auto operator<=>(const DataReportKey&, const DataReportKey&) = default;
};

// A part as it was received.
struct StoredReportPart {
  int64_t attempt = 0;
  int64_t time_ms = 0;
  v1::DataReportRecord record;

  DataReportKey key() const { return {attempt, record.number()}; }
};

// A complete report.
struct StoredDataReport {
  int64_t attempt = 0;
  int64_t time_ms = 0;  // Time of the last part.
  std::string text;     // JSON, as the program wrote it.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_DATA_REPORT_H_
