#include "controller/store/sqlite/sqlite_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "controller/store/sqlite/page_check.h"

namespace trainyard::controller {
namespace {

constexpr int kBusyTimeoutMs = 10'000;
constexpr std::size_t kIdleReadersMax = 8;

constexpr char kConnectionSettings[] = R"(
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = OFF;
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
  PRAGMA temp_store = MEMORY;
)";
// Must be set before the first page is written. Only a file with this setting can return free pages
// (sqlite_space.h).
constexpr char kNewFileSettings[] = "PRAGMA auto_vacuum = INCREMENTAL";
// journal_size_limit: if the write-ahead log has grown during a long read, the log is truncated at
// the next checkpoint. cache_size (negative: KiB): the inner pages of a large index need more than
// the default of 2 MiB. Readers keep the default: a store has up to kIdleReadersMax readers, and
// the kernel's page cache is shared by all of them.
constexpr char kWriterSettings[] = R"(
  PRAGMA journal_mode = WAL;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA cache_size = -16384;
)";

absl::StatusCode CodeOf(int primary) {
  switch (primary) {
    case SQLITE_FULL:
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    // Not DATA_LOSS, because a failing disk may recover. Only wrong bytes are data loss.
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kInternal;
  }
}

const char* NextStep(int primary) {
  switch (primary) {
    case SQLITE_FULL:
      return "; free disk space";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ". The file is damaged; restore a backup with `trainyard server restore`";
    case SQLITE_IOERR:
      return "; check the disk (dmesg)";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return "; check the owner and mode of the file and its directory";
    default:
      return "";
  }
}

// Creates the file with mode 0600; SQLite then gives the -wal and -shm files the same mode. Does
// not open an existing file: closing its descriptor would release the locks of this process's open
// connections.
absl::Status CreateOwnerOnly(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    if (errno == EEXIST) return absl::OkStatus();
    if (errno == ENOSPC || errno == EDQUOT) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": cannot create: ", std::strerror(errno), NextStep(SQLITE_FULL)));
    }
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": cannot create: ", std::strerror(errno),
                     "; check the owner and mode of the file and its directory"));
  }
  close(fd);
  return absl::OkStatus();
}

}  // namespace

SqliteQuery::SqliteQuery(SqliteDatabase& database, sqlite3_stmt* statement)
    : database_(&database), statement_(statement) {}

SqliteQuery::SqliteQuery(SqliteQuery&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bind_error_(other.bind_error_) {}

SqliteQuery::~SqliteQuery() {
  if (statement_ != nullptr) database_->Release(statement_);
}

void SqliteQuery::KeepFirstError(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

void SqliteQuery::Bind(int index, int64_t value) {
  KeepFirstError(sqlite3_bind_int64(statement_, index, value));
}

void SqliteQuery::Bind(int index, double value) {
  KeepFirstError(sqlite3_bind_double(statement_, index, value));
}

void SqliteQuery::Bind(int index, std::string_view text) {
  KeepFirstError(
      sqlite3_bind_text64(statement_, index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void SqliteQuery::Bind(int index, SqlBlob blob) {
  // A null pointer would bind NULL.
  const char* data = blob.bytes.empty() ? "" : blob.bytes.data();
  KeepFirstError(sqlite3_bind_blob64(statement_, index, data, blob.bytes.size(), SQLITE_STATIC));
}

absl::StatusOr<bool> SqliteQuery::Next() {
  if (bind_error_ != SQLITE_OK) return database_->Error(bind_error_, "bind an argument");
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->Error(code, sqlite3_sql(statement_));
}

int64_t SqliteQuery::Int64(int column) const { return sqlite3_column_int64(statement_, column); }

double SqliteQuery::Double(int column) const {
  if (IsNull(column)) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(statement_, column);
}

std::string_view SqliteQuery::Bytes(int column) const {
  // Get the pointer before the size, because this call may convert the value and change its size.
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

bool SqliteQuery::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

absl::StatusOr<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const std::string& path,
                                                                     Mode mode) {
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(path));
  TRAINYARD_RETURN_IF_ERROR(database->OpenHandle(mode));
  return database;
}

absl::Status SqliteDatabase::OpenHandle(Mode mode) {
  if (mode == Mode::kWriter) TRAINYARD_RETURN_IF_ERROR(CreateOwnerOnly(path_));
  const int access = mode == Mode::kWriter ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const int code =
      sqlite3_open_v2(path_.c_str(), &handle_, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                      PageCheckVfs());
  if (code != SQLITE_OK) return Error(code, "open");
  if (mode == Mode::kWriter) EnablePageChecks(handle_);
  sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
  TRAINYARD_RETURN_IF_ERROR(RunScript(kConnectionSettings));
  if (mode == Mode::kReader) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t pages, QueryInt64("PRAGMA page_count"));
  if (pages == 0) TRAINYARD_RETURN_IF_ERROR(RunScript(kNewFileSettings));
  return RunScript(kWriterSettings);
}

SqliteDatabase::~SqliteDatabase() {
  for (auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

absl::StatusOr<SqliteQuery> SqliteDatabase::Prepare(std::string_view sql) {
  if (auto idle = idle_.find(std::string(sql)); idle != idle_.end()) {
    SqliteQuery query(*this, idle->second);
    idle_.erase(idle);
    return query;
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return Error(code, absl::string_view(sql.data(), sql.size()));
  return SqliteQuery(*this, statement);
}

absl::StatusOr<SqliteQuery> SqliteDatabase::Bound(std::string_view sql,
                                                  std::span<const SqlValue> arguments) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery query, Prepare(sql));
  int index = 0;
  for (const SqlValue& argument : arguments) {
    ++index;
    std::visit([&](const auto& value) { query.Bind(index, value); }, argument);
  }
  return query;
}

absl::StatusOr<std::unique_ptr<SqlRows>> SqliteDatabase::Execute(
    std::string_view sql, std::span<const SqlValue> arguments) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery query, Bound(sql, arguments));
  return std::make_unique<SqliteQuery>(std::move(query));
}

absl::StatusOr<int64_t> SqliteDatabase::ExecuteChange(std::string_view sql,
                                                      std::span<const SqlValue> arguments) {
  TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery query, Bound(sql, arguments));
  TRAINYARD_RETURN_IF_ERROR(query.Next().status());
  return ChangedRows();
}

absl::Status SqliteDatabase::RunForEach(std::string_view sql, std::span<const SqlArguments> all,
                                        const Visit& visit) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery query, Bound(sql, all[i]));
    TRAINYARD_RETURN_IF_ERROR(visit == nullptr ? query.Next().status() : visit(i, query));
  }
  return absl::OkStatus();
}

void SqliteDatabase::Release(sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  idle_.emplace(sqlite3_sql(statement), statement);
}

absl::Status SqliteDatabase::RunScript(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code, "run a script");
}

int64_t SqliteDatabase::ChangedRows() const { return sqlite3_changes64(handle_); }

absl::Status SqliteDatabase::Error(int code, absl::string_view action) const {
  return SqliteError(path_, handle_, code, action);
}

absl::Status SqliteError(const std::string& path, sqlite3* handle, int code,
                         absl::string_view action) {
  const int primary = code & 0xff;
  if (code == SQLITE_IOERR_DATA) {
    return absl::DataLossError(absl::StrCat(path, ": the page at byte ", LastDamagedByte(),
                                            " fails its checksum (on: ", action, ")",
                                            NextStep(SQLITE_CORRUPT)));
  }
  // A later call on the handle may have replaced or cleared the error. In that case, do not use the
  // handle's message.
  const bool newest = handle != nullptr && sqlite3_extended_errcode(handle) == code;
  const char* message = newest ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  return absl::Status(CodeOf(primary), absl::StrCat(path, ": ", message, " (SQLite error ", code,
                                                    ", on: ", action, ")", NextStep(primary)));
}

absl::StatusOr<SqliteTransaction> SqliteTransaction::BeginWrite(SqliteDatabase& database) {
  TRAINYARD_RETURN_IF_ERROR(database.Run("BEGIN IMMEDIATE"));
  return SqliteTransaction(database);
}

absl::StatusOr<SqliteTransaction> SqliteTransaction::BeginRead(SqliteDatabase& database) {
  TRAINYARD_RETURN_IF_ERROR(database.Run("BEGIN DEFERRED"));
  return SqliteTransaction(database);
}

SqliteTransaction::SqliteTransaction(SqliteTransaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

SqliteTransaction::~SqliteTransaction() {
  // A failed statement may already have rolled back the transaction. SQLite is then in autocommit
  // mode, and there is nothing to roll back.
  if (database_ != nullptr && sqlite3_get_autocommit(database_->handle()) == 0) {
    sqlite3_exec(database_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

absl::Status SqliteTransaction::Commit() {
  TRAINYARD_RETURN_IF_ERROR(database_->Run("COMMIT"));
  database_ = nullptr;
  return absl::OkStatus();
}

SqliteReaderPool::Lease::~Lease() {
  if (database_ != nullptr) pool_->Return(std::move(database_));
}

absl::StatusOr<SqliteReaderPool::Lease> SqliteReaderPool::Acquire() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Lease lease(*this, std::move(idle_.back()));
      idle_.pop_back();
      return lease;
    }
  }
  TRAINYARD_ASSIGN_OR_RETURN(auto database,
                             SqliteDatabase::Open(path_, SqliteDatabase::Mode::kReader));
  return Lease(*this, std::move(database));
}

void SqliteReaderPool::Return(std::unique_ptr<SqliteDatabase> database) {
  std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleReadersMax) idle_.push_back(std::move(database));
}

}  // namespace trainyard::controller
