#include "controller/store/metrics/sqlite_metric_store.h"

#include <array>

#include "controller/store/metrics/data_report_table.h"
#include "controller/store/metrics/data_set_table.h"
#include "controller/store/metrics/expert_table.h"
#include "controller/store/sql/mark_table.h"
#include "controller/store/sqlite/sqlite_connections.h"

namespace trainyard::controller {
namespace {

const std::array kMetricMigrations = {
    Migration{R"(
      CREATE TABLE stream (
        job_id INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        rank INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        stored_offset INTEGER NOT NULL,
        PRIMARY KEY (job_id, epoch, rank, kind)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE series (
        id INTEGER PRIMARY KEY,
        job_id INTEGER NOT NULL,
        key TEXT NOT NULL,
        UNIQUE (job_id, key)
      ) STRICT;
      CREATE TABLE attempt (
        job_id INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        first_step INTEGER NOT NULL,
        tail_rows INTEGER NOT NULL,
        tail_points INTEGER NOT NULL,
        PRIMARY KEY (job_id, epoch)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE tail (
        id INTEGER PRIMARY KEY,
        job_id INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        block BLOB NOT NULL
      ) STRICT;
      CREATE INDEX tail_by_attempt ON tail (job_id, epoch);
      CREATE TABLE chunk (
        id INTEGER PRIMARY KEY,
        series_id INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        first_step INTEGER NOT NULL,
        last_step INTEGER NOT NULL,
        last_time_ms INTEGER NOT NULL,
        count INTEGER NOT NULL,
        nan_count INTEGER NOT NULL,
        min REAL,   -- NULL stands for NaN.
        max REAL,
        last REAL,
        checksum INTEGER NOT NULL,
        block BLOB NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX chunk_by_step ON chunk (series_id, epoch, first_step, last_step);
    )"},
    // The column is NULL in chunks of older releases, and in chunks with an infinite value or
    // sum.
    Migration{"ALTER TABLE chunk ADD COLUMN sum REAL;"},
    Migration{R"(
      ALTER TABLE stream RENAME COLUMN epoch TO attempt;
      ALTER TABLE attempt RENAME COLUMN epoch TO attempt;
      ALTER TABLE tail RENAME COLUMN epoch TO attempt;
      ALTER TABLE chunk RENAME COLUMN epoch TO attempt;
    )"},
    Migration{kMarkSchema},
    Migration{kExpertSchema},
    Migration{kDataReportSchema},
    Migration{kDataSetSchema},
};

}  // namespace

absl::StatusOr<std::unique_ptr<SqlMetricStore>> SqliteMetricStore::Open(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto connections, SqliteConnections::Open(path, kMetricMigrations));
  return SqlMetricStore::Open(std::move(connections));
}

}  // namespace trainyard::controller
