#include "controller/store/postgres/postgres_schema.h"

#include <array>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

const std::array<PostgresMigration, 3> kEventMigrations = {
    // Strings are bytea (postgres_value.h). The table `leader` always has one row; term 0 has no
    // holder. `newest` is the negative job id, so newer jobs come first among equals, and each
    // index is sorted in one order of lists. The parts of a snapshot are sealed one by one
    // (postgres_snapshot.h).
    PostgresMigration{R"(
      CREATE TABLE leader (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
        term bigint NOT NULL,
        holder bytea NOT NULL,
        session bigint NOT NULL,
        renewed timestamptz NOT NULL
      );
      INSERT INTO leader (term, holder, session, renewed) VALUES (0, '', 0, '-infinity');
      CREATE TABLE event (
        seq bigint PRIMARY KEY,
        job_id bigint NOT NULL,
        time_ms bigint NOT NULL,
        kind bigint NOT NULL,
        payload bytea NOT NULL,
        checksum bigint NOT NULL
      );
      CREATE INDEX event_by_job ON event (job_id, seq) WHERE job_id <> 0;
      CREATE SEQUENCE snapshot_set;
      CREATE TABLE snapshot (
        last_sequence bigint PRIMARY KEY,
        part_set bigint NOT NULL,
        parts bigint NOT NULL
      );
      CREATE TABLE snapshot_part (
        part_set bigint NOT NULL,
        part bigint NOT NULL,
        block bytea NOT NULL,
        PRIMARY KEY (part_set, part)
      );
      CREATE TABLE deletion (
        job_id bigint PRIMARY KEY,
        seq bigint NOT NULL,
        finished bigint NOT NULL
      );
      CREATE INDEX deletion_by_event ON deletion (seq);
      CREATE INDEX open_deletion ON deletion (seq) WHERE finished = 0;
      CREATE TABLE term (
        first_sequence bigint PRIMARY KEY,
        id bigint NOT NULL
      );
      CREATE TABLE store_mark (
        store bytea PRIMARY KEY,
        store_id bigint NOT NULL,
        writes bigint NOT NULL
      );
      CREATE TABLE archived_job (
        newest bigint PRIMARY KEY,
        name bytea NOT NULL,
        user_name bytea NOT NULL,
        state bigint NOT NULL,
        ended_key double precision NOT NULL,
        progress_key double precision NOT NULL,
        loss_key double precision NOT NULL,
        best_loss_key double precision NOT NULL,
        rate_key double precision NOT NULL,
        slots_key double precision NOT NULL,
        restarts_key double precision NOT NULL,
        request_id bytea NOT NULL,
        sought bytea NOT NULL
      );
      CREATE INDEX archived_by_name ON archived_job (name, newest);
      CREATE INDEX archived_by_user ON archived_job (user_name, newest);
      CREATE INDEX archived_by_state ON archived_job (state, newest);
      CREATE INDEX archived_by_ended ON archived_job (ended_key, newest);
      CREATE INDEX archived_by_progress ON archived_job (progress_key, newest);
      CREATE INDEX archived_by_request ON archived_job (request_id) WHERE request_id <> '';
      CREATE TABLE archived_record (
        newest bigint PRIMARY KEY,
        block bytea NOT NULL,
        time_block bytea NOT NULL
      );
      CREATE TABLE archived_count (
        user_name bytea NOT NULL,
        state bigint NOT NULL,
        jobs bigint NOT NULL,
        PRIMARY KEY (user_name, state)
      );
    )"},
    // `successor` is the standby to which the leader hands over; empty if there is none. Each
    // standby has a row. SQLite has no counterpart, because it has one controller.
    PostgresMigration{R"(
      ALTER TABLE leader ADD COLUMN successor bytea NOT NULL DEFAULT '';
      ALTER TABLE leader ADD COLUMN named timestamptz NOT NULL DEFAULT '-infinity';
      CREATE TABLE standby (
        address bytea PRIMARY KEY,
        version bytea NOT NULL,
        position bigint NOT NULL,
        reported timestamptz NOT NULL
      );
    )"},
    // Texts that the leader of `term` has left for other controllers (support/leader_notes.h).
    PostgresMigration{R"(
      CREATE TABLE leader_note (
        name bytea PRIMARY KEY,
        term bigint NOT NULL,
        text bytea NOT NULL
      );
    )"},
};

// Serializes the starts of controllers on one schema. The lock ends with the transaction.
constexpr char kLockSchema[] =
    "SELECT pg_advisory_xact_lock(hashtextextended('trainyard schema ' || current_schema(), 0))";

constexpr char kVersionTable[] =
    "CREATE TABLE IF NOT EXISTS schema_version (store bytea PRIMARY KEY, version bigint NOT NULL)";

constexpr char kVersion[] = "SELECT version FROM schema_version WHERE store = $1";

absl::Status CheckVersion(int64_t found, int64_t known, const std::string& name) {
  if (found >= 0 && found <= known) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      name, ": schema version ", found, " was written by another release; this release knows ",
      "versions up to ", known, ". Start the release that wrote the tables or a newer release, or ",
      "restore a backup of the database"));
}

// Runs the next migration. Returns false if none is left.
absl::StatusOr<bool> RunNext(const std::string& store,
                             std::span<const PostgresMigration> migrations,
                             PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, PostgresTransaction::BeginWrite(database));
  TRAINYARD_RETURN_IF_ERROR(database.RunScript(kLockSchema));
  TRAINYARD_RETURN_IF_ERROR(database.RunScript(kVersionTable));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t version, database.QueryInt64(kVersion, store));
  const auto known = static_cast<int64_t>(migrations.size());
  TRAINYARD_RETURN_IF_ERROR(CheckVersion(version, known, database.name()));
  if (version == known) return false;
  TRAINYARD_RETURN_IF_ERROR(database.RunScript(migrations[static_cast<std::size_t>(version)].sql));
  TRAINYARD_RETURN_IF_ERROR(database.Run(
      "INSERT INTO schema_version VALUES ($1, $2) ON CONFLICT (store) DO UPDATE SET version = $2",
      store, version + 1));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  return true;
}

}  // namespace

absl::Status Migrate(const std::string& store, std::span<const PostgresMigration> migrations,
                     PostgresDatabase& database) {
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool ran, RunNext(store, migrations, database));
    if (!ran) return absl::OkStatus();
  }
}

absl::Status MigrateEvents(PostgresDatabase& database) {
  return Migrate("events", kEventMigrations, database);
}

}  // namespace trainyard::controller
