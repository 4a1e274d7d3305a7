#include "controller/store/postgres/postgres_connections.h"

#include <optional>

#include "controller/store/postgres/leader_table.h"

namespace trainyard::controller {
namespace {

class PostgresWriteSession : public SqlSession {
 public:
  PostgresWriteSession(PostgresDatabase& writer, PostgresTransaction transaction)
      : writer_(writer), transaction_(std::move(transaction)) {}

  absl::Status Commit() override { return transaction_.Commit(); }

 private:
  SqlDatabase& database() override { return writer_; }

  PostgresDatabase& writer_;
  PostgresTransaction transaction_;
};

class PostgresReadSession : public SqlSession {
 public:
  explicit PostgresReadSession(PostgresPool::Lease reader) : reader_(std::move(reader)) {}

  absl::Status BeginView() {
    TRAINYARD_ASSIGN_OR_RETURN(auto view, PostgresTransaction::BeginRead(*reader_));
    view_.emplace(std::move(view));
    return absl::OkStatus();
  }

  absl::Status Commit() override {
    return absl::FailedPreconditionError("a reader has no changes");
  }

 private:
  SqlDatabase& database() override { return *reader_; }

  PostgresPool::Lease reader_;
  std::optional<PostgresTransaction> view_;
};

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
