#include "controller/store/postgres/postgres_connections.h"

#include "controller/store/postgres/leader_table.h"
#include "controller/store/sql/sql_sessions.h"

namespace trainyard::controller {
namespace {

using PostgresWriteSession = WriteSession<PostgresDatabase, PostgresTransaction>;
using PostgresReadSession = ReadSession<PostgresPool::Lease, PostgresTransaction>;

}  // namespace

PostgresStoreTables MetricTablesInPostgres() {
  return {.mark = "metric_mark",
          .all = "metric_mark,stream,series,attempt,tail,chunk,expert,report_part,job_data_set"};
}

PostgresStoreTables LogTablesInPostgres() {
  return {.mark = "log_mark", .all = "log_mark,log_stream,segment"};
}

absl::StatusOr<std::unique_ptr<SqlSession>> PostgresConnections::BeginWrite() {
  if (writer_ == nullptr || !writer_->IsUsable()) {
    writer_.reset();
    TRAINYARD_ASSIGN_OR_RETURN(writer_, PostgresDatabase::Connect(settings_));
  }
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(leader_term_, *writer_));
  return std::make_unique<PostgresWriteSession>(*writer_, std::move(transaction));
}

absl::StatusOr<std::unique_ptr<SqlSession>> PostgresConnections::BeginRead(ReadView view) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, readers_.Acquire());
  auto session = std::make_unique<PostgresReadSession>(std::move(reader));
  if (view == ReadView::kOne) TRAINYARD_RETURN_IF_ERROR(session->BeginView());
  return session;
}

absl::StatusOr<StoreUsage> PostgresConnections::Usage() {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresPool::Lease reader, readers_.Acquire());
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t bytes,
      reader->QueryInt64("SELECT SUM(pg_total_relation_size(name::regclass))::bigint FROM "
                         "unnest(string_to_array(convert_from($1, 'UTF8'), ',')) AS name",
                         tables_.all));
  return StoreUsage{.used_bytes = bytes, .free_bytes = 0};
}

}  // namespace trainyard::controller
