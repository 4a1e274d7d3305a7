// The table of metrics.db with the reports of data sets, one row per part.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_DATA_REPORT_TABLE_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_DATA_REPORT_TABLE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/metrics/data_report.h"
#include "controller/store/sql/sql_database.h"

namespace trainyard::controller {

inline constexpr char kDataReportSchema[] = R"(
      CREATE TABLE report_part (
        job_id INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        number INTEGER NOT NULL,
        part INTEGER NOT NULL,
        parts INTEGER NOT NULL,
        time_ms INTEGER NOT NULL,
        block BLOB NOT NULL,
        PRIMARY KEY (job_id, attempt, number, part)
      ) STRICT;
    )";

// Adds a part, and removes the reports that need not be kept. Requires a write transaction.
absl::Status AddReportPart(SqlDatabase& database, int64_t job_id, const StoredReportPart& part);

// Returns the report as MetricStore::ReadDataReport describes.
absl::StatusOr<std::optional<StoredDataReport>> ReadNewestReport(SqlDatabase& database,
                                                                 int64_t job_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_DATA_REPORT_TABLE_H_
