#include "controller/store/postgres/postgres_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

// A slow server must not delay the end of the controller.
constexpr PostgresLimits kProbeLimits{
    .connect_ms = 2'000, .statement_ms = 2'000, .idle_transaction_ms = 2'000, .answer_ms = 2'500};

constexpr char kServer[] =
    "SELECT split_part(current_setting('server_version'), ' ', 1), current_database()::text, "
    "current_schema()::text, current_setting('synchronous_commit'), "
    "current_setting('synchronous_standby_names'), (current_setting('fsync') = "
    "'on')::int::bigint, (current_setting('transaction_read_only') = 'on' OR "
    "pg_is_in_recovery())::int::bigint, pg_database_size(current_database()), "
    "pg_has_role('pg_read_all_stats', 'USAGE')::int::bigint";

// Used and allowed connections of the server, the user and the database; -1: no limit. The limits
// of user and database do not apply to superusers.
constexpr char kConnections[] =
    "SELECT (SELECT SUM(numbackends) FROM pg_stat_database)::bigint, "
    "current_setting('max_connections')::bigint - CASE WHEN rolsuper THEN 0 ELSE "
    "current_setting('superuser_reserved_connections')::bigint END, (SELECT COUNT(*) FROM "
    "pg_stat_activity WHERE usesysid = pg_roles.oid), CASE WHEN rolsuper THEN -1 ELSE rolconnlimit "
    "END::bigint, (SELECT numbackends FROM pg_stat_database WHERE datid = "
    "pg_database.oid)::bigint, CASE WHEN rolsuper THEN -1 ELSE datconnlimit END::bigint FROM "
    "pg_roles, pg_database WHERE rolname = session_user AND datname = current_database()";

// Excludes base backups and logical subscribers, which cannot replace the server.
constexpr char kReplicas[] =
    "SELECT COALESCE(application_name, ''), COALESCE(host(client_addr), ''), COALESCE(state, ''), "
    "COALESCE(sync_state, ''), COALESCE(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN NULL "
    "ELSE pg_current_wal_lsn() END, COALESCE(replay_lsn, flush_lsn)), 0)::bigint, "
    "COALESCE(EXTRACT(epoch FROM replay_lag) * 1000, 0)::bigint FROM pg_stat_replication AS sender "
    "WHERE state IS DISTINCT FROM 'backup' AND NOT EXISTS (SELECT 1 FROM pg_replication_slots "
    "WHERE active_pid = sender.pid AND slot_type = 'logical') ORDER BY 1, 2 LIMIT 64";

// Standbys that reported within an hour. One that stops in order removes its row.
constexpr char kStandbys[] =
    "SELECT address, version, position, (EXTRACT(epoch FROM clock_timestamp() - reported) * "
    "1000)::bigint FROM standby WHERE reported > clock_timestamp() - interval '1 hour' ORDER BY "
    "address LIMIT 64";

std::string Text(const PostgresRows& rows, int row, int column) {
  return ReplaceInvalidUtf8(rows.Bytes(row, column));
}

absl::Status ReadServer(PostgresDatabase& database, v1::DatabaseStatus& status) {
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows, database.Query(kServer));
  status.set_version(Text(rows, 0, 0));
  status.set_database(Text(rows, 0, 1));
  status.set_schema(Text(rows, 0, 2));
  status.set_synchronous_commit(Text(rows, 0, 3));
  status.set_synchronous_standby_names(Text(rows, 0, 4));
  status.set_fsync(rows.Int64(0, 5) != 0);
  status.set_read_only(rows.Int64(0, 6) != 0);
  status.set_size_bytes(rows.Int64(0, 7));
  status.set_replicas_readable(rows.Int64(0, 8) != 0);
  return absl::OkStatus();
}

// Selects the limit that leaves the fewest connections.
absl::Status ReadConnections(PostgresDatabase& database, v1::DatabaseStatus& status) {
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows, database.Query(kConnections));
  if (rows.size() != 1) return absl::OkStatus();
  constexpr std::array<const char*, 3> kOwners = {"server", "user", "database"};
  for (int i = 0; i < static_cast<int>(kOwners.size()); ++i) {
    const int64_t used = rows.Int64(0, 2 * i);
    const int64_t limit = rows.Int64(0, 2 * i + 1);
    const bool is_closest = status.connections_of().empty() ||
                            limit - used < status.connections_max() - status.connections();
    if (limit < 0 || !is_closest) continue;
    status.set_connections_of(kOwners[static_cast<std::size_t>(i)]);
    status.set_connections(used);
    status.set_connections_max(limit);
  }
  return absl::OkStatus();
}

absl::Status ReadReplicas(PostgresDatabase& database, v1::DatabaseStatus& status) {
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows, database.Query(kReplicas));
  for (int row = 0; row < rows.size(); ++row) {
    v1::DatabaseReplica& replica = *status.add_replicas();
    replica.set_name(Text(rows, row, 0));
    replica.set_address(Text(rows, row, 1));
    replica.set_state(Text(rows, row, 2));
    replica.set_sync_state(Text(rows, row, 3));
    replica.set_behind_bytes(std::max<int64_t>(0, rows.Int64(row, 4)));
    replica.set_lag_ms(std::max<int64_t>(0, rows.Int64(row, 5)));
  }
  return absl::OkStatus();
}

absl::Status ReadStandbys(PostgresDatabase& database, int64_t now_ms,
                          std::vector<v1::StandbyController>& standbys) {
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows, database.Query(kStandbys));
  for (int row = 0; row < rows.size(); ++row) {
    v1::StandbyController& standby = standbys.emplace_back();
    standby.set_address(Text(rows, row, 0));
    standby.set_version(Text(rows, row, 1));
    standby.set_position(static_cast<uint64_t>(rows.Int64(row, 2)));
    standby.set_seen_ms(now_ms - rows.Int64(row, 3));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DatabaseFacts> PostgresProbe::Read(int64_t now_ms) {
  if (database_ == nullptr || !database_->IsUsable()) {
    database_.reset();
    TRAINYARD_ASSIGN_OR_RETURN(database_, PostgresDatabase::Connect(settings_, kProbeLimits));
  }
  DatabaseFacts facts;
  facts.database.set_kind("PostgreSQL");
  facts.database.set_host(ReplaceInvalidUtf8(database_->host()));
  facts.database.set_read_ms(now_ms);
  TRAINYARD_RETURN_IF_ERROR(ReadServer(*database_, facts.database));
  TRAINYARD_RETURN_IF_ERROR(ReadConnections(*database_, facts.database));
  TRAINYARD_RETURN_IF_ERROR(ReadReplicas(*database_, facts.database));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t newest,
                             database_->QueryInt64("SELECT COALESCE(MAX(seq), 0) FROM event"));
  facts.database.set_newest_event(static_cast<uint64_t>(newest));
  TRAINYARD_RETURN_IF_ERROR(ReadStandbys(*database_, now_ms, facts.standbys));
  return facts;
}

}  // namespace trainyard::controller
