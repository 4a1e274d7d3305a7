#include "controller/store/sqlite/sqlite_connections.h"

#include <optional>

#include "absl/memory/memory.h"
#include "controller/store/sqlite/sqlite_space.h"

namespace trainyard::controller {
namespace {

class WriteSession : public SqlSession {
 public:
  WriteSession(SqliteDatabase& writer, SqliteTransaction transaction)
      : writer_(writer), transaction_(std::move(transaction)) {}

  absl::Status Commit() override { return transaction_.Commit(); }

 private:
  SqlDatabase& database() override { return writer_; }

  SqliteDatabase& writer_;
  SqliteTransaction transaction_;
};

class ReadSession : public SqlSession {
 public:
  explicit ReadSession(SqliteReaderPool::Lease reader) : reader_(std::move(reader)) {}

  absl::Status BeginView() {
    TRAINYARD_ASSIGN_OR_RETURN(auto view, SqliteTransaction::BeginRead(*reader_));
    view_.emplace(std::move(view));
    return absl::OkStatus();
  }

  absl::Status Commit() override {
    return absl::FailedPreconditionError("a reader has no changes");
  }

 private:
  SqlDatabase& database() override { return *reader_; }

  SqliteReaderPool::Lease reader_;
  std::optional<SqliteTransaction> view_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteConnections>> SqliteConnections::Open(
    const std::string& path, std::span<const Migration> migrations) {
  TRAINYARD_ASSIGN_OR_RETURN(auto writer,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter));
  TRAINYARD_RETURN_IF_ERROR(Migrate(*writer, migrations));
  return absl::WrapUnique(new SqliteConnections(std::move(writer)));
}

absl::StatusOr<std::unique_ptr<SqlSession>> SqliteConnections::BeginWrite() {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*writer_));
  return std::make_unique<WriteSession>(*writer_, std::move(transaction));
}

absl::StatusOr<std::unique_ptr<SqlSession>> SqliteConnections::BeginRead(ReadView view) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  auto session = std::make_unique<ReadSession>(std::move(reader));
  if (view == ReadView::kOne) TRAINYARD_RETURN_IF_ERROR(session->BeginView());
  return session;
}

absl::StatusOr<StoreUsage> SqliteConnections::Usage() {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return ReadUsage(*reader);
}

absl::StatusOr<bool> SqliteConnections::ReturnFreeSpace() { return ReturnFreePages(*writer_); }

}  // namespace trainyard::controller
