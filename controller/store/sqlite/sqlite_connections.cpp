#include "controller/store/sqlite/sqlite_connections.h"

#include "absl/memory/memory.h"
#include "controller/store/sql/sql_sessions.h"
#include "controller/store/sqlite/sqlite_space.h"

namespace trainyard::controller {
namespace {

using SqliteWriteSession = WriteSession<SqliteDatabase, SqliteTransaction>;
using SqliteReadSession = ReadSession<SqliteReaderPool::Lease, SqliteTransaction>;

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
  return std::make_unique<SqliteWriteSession>(*writer_, std::move(transaction));
}

absl::StatusOr<std::unique_ptr<SqlSession>> SqliteConnections::BeginRead(ReadView view) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  auto session = std::make_unique<SqliteReadSession>(std::move(reader));
  if (view == ReadView::kOne) TRAINYARD_RETURN_IF_ERROR(session->BeginView());
  return session;
}

absl::StatusOr<StoreUsage> SqliteConnections::Usage() {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteReaderPool::Lease reader, readers_.Acquire());
  return ReadUsage(*reader);
}

absl::StatusOr<bool> SqliteConnections::ReturnFreeSpace() { return ReturnFreePages(*writer_); }

}  // namespace trainyard::controller
