// The table of metrics.db with the records of experts, one row per job and step.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_EXPERT_TABLE_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_EXPERT_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/metrics/metric_points.h"
#include "controller/store/metrics/metric_store.h"
#include "controller/store/sql/sql_database.h"

namespace trainyard::controller {

inline constexpr char kExpertSchema[] = R"(
      CREATE TABLE expert (
        job_id INTEGER NOT NULL,
        step INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        time_ms INTEGER NOT NULL,
        block BLOB NOT NULL,
        PRIMARY KEY (job_id, step)
      ) STRICT;
    )";

// Adds a record, and removes records that it replaces or that need not be kept. Requires a write
// transaction.
absl::Status AddExperts(SqlDatabase& database, int64_t job_id, const StoredExperts& experts);

// Returns the records as MetricStore::ReadExperts describes.
absl::StatusOr<std::vector<StoredExperts>> ReadExpertRecords(SqlDatabase& database, int64_t job_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_EXPERT_TABLE_H_
