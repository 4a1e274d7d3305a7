// The table of metrics.db with the data sets of jobs, for finding the jobs with the same data set.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_DATA_SET_TABLE_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_DATA_SET_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/metrics/data_sets.h"
#include "controller/store/sql/sql_database.h"

namespace trainyard::controller {

// `place`: position in the report, from 0. `reads`: 1 for the data set of a training job.
inline constexpr char kDataSetSchema[] = R"(
      CREATE TABLE job_data_set (
        job_id INTEGER NOT NULL,
        place INTEGER NOT NULL,
        reads INTEGER NOT NULL,
        path TEXT NOT NULL,
        xxh64 TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        PRIMARY KEY (job_id, place)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX job_data_set_by_checksum ON job_data_set (xxh64, reads, job_id);
    )";

// Replaces the data sets of the job. Requires a write transaction.
absl::Status WriteDataSets(SqlDatabase& database, int64_t job_id, const ReportedDataSets& sets);

// Returns the data sets as MetricStore::ReadDataSets describes.
absl::StatusOr<std::vector<LinkedDataSet>> ReadLinkedDataSets(SqlDatabase& database,
                                                              int64_t job_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_DATA_SET_TABLE_H_
