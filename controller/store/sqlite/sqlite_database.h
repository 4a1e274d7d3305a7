// A thin RAII layer over SQLite: connections, prepared statements, transactions.
//
// Errors contain the file, the attempted action and SQLite's message:
//   RESOURCE_EXHAUSTED  the disk is full, or a value is larger than SQLite can store
//   DATA_LOSS           the file is damaged
//   UNAVAILABLE         the device failed to read or write, or another connection held a lock for
//                       longer than the busy timeout
//   PERMISSION_DENIED   the file cannot be opened or written
//   INTERNAL            anything else
#ifndef TRAINYARD_CONTROLLER_STORE_SQLITE_SQLITE_DATABASE_H_
#define TRAINYARD_CONTROLLER_STORE_SQLITE_SQLITE_DATABASE_H_

#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "controller/store/sql/sql_database.h"
#include "proto/support/status_macros.h"

struct sqlite3;
struct sqlite3_stmt;

namespace trainyard::controller {

class SqliteDatabase;

// A statement with its arguments. The first call of Next starts it. The destructor returns the
// statement to the cache of its database, so the query must not outlive the database.
class SqliteQuery final : public SqlRows {
 public:
  SqliteQuery(SqliteDatabase& database, sqlite3_stmt* statement);
  SqliteQuery(SqliteQuery&& other) noexcept;
  SqliteQuery& operator=(SqliteQuery&&) = delete;
  ~SqliteQuery() override;

  absl::StatusOr<bool> Next() override;
  int64_t Int64(int column) const override;
  double Double(int column) const override;
  std::string_view Bytes(int column) const override;
  bool IsNull(int column) const override;

 private:
  friend class SqliteDatabase;

  void Bind(int index, int64_t value);
  void Bind(int index, double value);
  void Bind(int index, std::string_view text);
  void Bind(int index, SqlBlob blob);
  void KeepFirstError(int code);

  SqliteDatabase* database_;
  sqlite3_stmt* statement_;
  int bind_error_ = 0;
};

// Returns the error of a failed call, with the file, the cause and the next step. DATA_LOSS: the
// bytes on disk are not those that were written; if a checksum failed, the text names the byte.
// RESOURCE_EXHAUSTED: the disk is full. UNAVAILABLE: the disk failed or the file is in use; a retry
// may succeed. `handle` may be null.
absl::Status SqliteError(const std::string& path, sqlite3* handle, int code,
                         absl::string_view action);

// One connection, used by one thread at a time.
class SqliteDatabase final : public SqlDatabase {
 public:
  enum class Mode {
    kWriter,  // Creates the file (0600) if it is missing.
    kReader,
  };

  // Opens with write-ahead logging, synchronous=FULL and a busy timeout.
  static absl::StatusOr<std::unique_ptr<SqliteDatabase>> Open(const std::string& path, Mode mode);

  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;
  ~SqliteDatabase() override;

  // Returns a prepared statement with these arguments. The arguments may be integers,
  // floating-point numbers, strings and SqlBlob.
  template <typename... Args>
  absl::StatusOr<SqliteQuery> Query(std::string_view sql, const Args&... args) {
    TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery query, Prepare(sql));
    int index = 0;
    (BindArgument(query, ++index, args), ...);
    return query;
  }

  // Runs one statement and ignores its rows.
  template <typename... Args>
  absl::Status Run(std::string_view sql, const Args&... args) {
    TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery query, Query(sql, args...));
    return query.Next().status();
  }

  absl::Status RunScript(const std::string& sql);

  // Returns the single integer that a statement selects; 0 if the statement returns no row or NULL.
  template <typename... Args>
  absl::StatusOr<int64_t> QueryInt64(std::string_view sql, const Args&... args) {
    TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery query, Query(sql, args...));
    TRAINYARD_ASSIGN_OR_RETURN(bool has_row, query.Next());
    return has_row ? query.Int64(0) : 0;
  }

  // Number of rows that the last statement changed.
  int64_t ChangedRows() const;

  absl::Status RunForEach(std::string_view sql, std::span<const SqlArguments> all,
                          const Visit& visit) override;
  const std::string& name() const override { return path_; }

  const std::string& path() const { return path_; }
  sqlite3* handle() { return handle_; }

 private:
  friend class SqliteQuery;

  explicit SqliteDatabase(std::string path) : path_(std::move(path)) {}

  absl::Status OpenHandle(Mode mode);
  absl::StatusOr<SqliteQuery> Prepare(std::string_view sql);
  absl::StatusOr<SqliteQuery> Bound(std::string_view sql, std::span<const SqlValue> arguments);
  absl::StatusOr<std::unique_ptr<SqlRows>> Execute(std::string_view sql,
                                                   std::span<const SqlValue> arguments) override;
  absl::StatusOr<int64_t> ExecuteChange(std::string_view sql,
                                        std::span<const SqlValue> arguments) override;
  void Release(sqlite3_stmt* statement);
  absl::Status Error(int code, absl::string_view action) const;

  template <typename T>
  static void BindArgument(SqliteQuery& query, int index, const T& value) {
    if constexpr (std::integral<T> || std::is_enum_v<T>) {
      query.Bind(index, static_cast<int64_t>(value));
    } else if constexpr (std::floating_point<T>) {
      query.Bind(index, static_cast<double>(value));
    } else if constexpr (std::is_same_v<T, SqlBlob>) {
      query.Bind(index, value);
    } else {
      query.Bind(index, std::string_view(value));
    }
  }

  std::string path_;
  sqlite3* handle_ = nullptr;
  // Idle prepared statements, by SQL text.
  std::unordered_multimap<std::string, sqlite3_stmt*> idle_;
};

// A transaction. Its destructor rolls back unless Commit succeeded.
class SqliteTransaction {
 public:
  // Begins a transaction for writing. Waits for the write lock now, so that no later statement can
  // fail to get it.
  static absl::StatusOr<SqliteTransaction> BeginWrite(SqliteDatabase& database);
  // Begins a transaction for reading. All its statements see the same state of the database.
  static absl::StatusOr<SqliteTransaction> BeginRead(SqliteDatabase& database);

  SqliteTransaction(SqliteTransaction&& other) noexcept;
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  ~SqliteTransaction();

  // If this returns OK, the changes survive a power failure.
  absl::Status Commit();

 private:
  explicit SqliteTransaction(SqliteDatabase& database) : database_(&database) {}

  SqliteDatabase* database_;
};

// A pool of reader connections, which are opened as needed. Thread-safe. Must outlive its leases.
class SqliteReaderPool {
 public:
  class Lease {
   public:
    Lease(SqliteReaderPool& pool, std::unique_ptr<SqliteDatabase> database)
        : pool_(&pool), database_(std::move(database)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    SqliteDatabase& operator*() { return *database_; }
    SqliteDatabase* operator->() { return database_.get(); }

   private:
    SqliteReaderPool* pool_;
    std::unique_ptr<SqliteDatabase> database_;
  };

  explicit SqliteReaderPool(std::string path) : path_(std::move(path)) {}

  absl::StatusOr<Lease> Acquire();

 private:
  void Return(std::unique_ptr<SqliteDatabase> database);

  const std::string path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<SqliteDatabase>> idle_;  // Guarded by mutex_.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQLITE_SQLITE_DATABASE_H_
