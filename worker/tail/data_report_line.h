// Reads a `data_report` record: a part of the report of a data set.
#ifndef TRAINYARD_WORKER_TAIL_DATA_REPORT_LINE_H_
#define TRAINYARD_WORKER_TAIL_DATA_REPORT_LINE_H_

#include "absl/status/status.h"
#include "trainyard/v1/telemetry.pb.h"
#include "worker/tail/telemetry_values.h"

namespace trainyard::worker {

// INVALID_ARGUMENT: a missing field, or a part that exceeds the limits of data_report.h.
absl::Status ReadDataReport(const TelemetryValues& values, v1::DataReportRecord& record);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_DATA_REPORT_LINE_H_
