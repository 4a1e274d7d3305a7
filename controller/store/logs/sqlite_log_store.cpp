#include "controller/store/logs/sqlite_log_store.h"

#include <array>

#include "controller/store/sql/mark_table.h"
#include "controller/store/sqlite/sqlite_connections.h"

namespace trainyard::controller {
namespace {

const std::array kLogMigrations = {
    Migration{R"(
      CREATE TABLE stream (
        id INTEGER PRIMARY KEY,
        job_id INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        rank INTEGER NOT NULL,
        end_offset INTEGER NOT NULL,
        packed_offset INTEGER NOT NULL,  -- Before it lie merged segments only.
        line_begin INTEGER NOT NULL,     -- Of the unfinished line, or part of one, at the end.
        last_time_ms INTEGER NOT NULL,
        UNIQUE (job_id, epoch, rank)
      ) STRICT;
      CREATE TABLE segment (
        id INTEGER PRIMARY KEY,
        stream_id INTEGER NOT NULL,
        begin_offset INTEGER NOT NULL,
        length INTEGER NOT NULL,
        first_time_ms INTEGER NOT NULL,
        last_time_ms INTEGER NOT NULL,
        block BLOB NOT NULL,
        UNIQUE (stream_id, begin_offset)
      ) STRICT;
    )"},
    Migration{R"(
      ALTER TABLE stream RENAME COLUMN epoch TO attempt;
    )"},
    Migration{kMarkSchema},
    // In PostgreSQL, the tables of all stores are in one schema.
    Migration{"ALTER TABLE stream RENAME TO log_stream;"},
};

}  // namespace

absl::StatusOr<std::unique_ptr<SqlLogStore>> SqliteLogStore::Open(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto connections, SqliteConnections::Open(path, kLogMigrations));
  return SqlLogStore::Open(std::move(connections));
}

}  // namespace trainyard::controller
