// The statements that run on SQLite and on PostgreSQL. The metric store and the log store are
// written against this interface, so both databases share one implementation of their rules.
//
// SQL: parameters are $1, $2, ... and first appear in this order, because SQLite numbers them by
// their first appearance. Only functions that both databases have may be used, and upserts have the
// form ON CONFLICT (...) DO UPDATE.
#ifndef TRAINYARD_CONTROLLER_STORE_SQL_SQL_DATABASE_H_
#define TRAINYARD_CONTROLLER_STORE_SQL_SQL_DATABASE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {

// Marks an argument as a blob. A plain string argument is text.
struct SqlBlob {
  std::string_view bytes;
};

// NaN is stored as NULL, because SQLite cannot store it.
using SqlValue = std::variant<int64_t, double, std::string_view, SqlBlob>;

template <typename T>
SqlValue SqlValueOf(const T& value) {
  if constexpr (std::integral<T> || std::is_enum_v<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_same_v<T, SqlBlob>) {
    return value;
  } else {
    return std::string_view(value);
  }
}

// The arguments of one statement. Strings and blobs are not copied.
using SqlArguments = std::vector<SqlValue>;

template <typename... Args>
SqlArguments MakeSqlArguments(const Args&... args) {
  return {SqlValueOf(args)...};
}

// The rows that a statement returns.
class SqlRows {
 public:
  virtual ~SqlRows() = default;

  // Moves to the next row. Returns false if there is none. Strings and blobs passed as arguments
  // must stay valid until the last call of Next.
  virtual absl::StatusOr<bool> Next() = 0;

  // Returns a column of the current row; columns count from 0. A returned view is valid until the
  // next call of Next.
  virtual int64_t Int64(int column) const = 0;
  // Returns NaN for NULL.
  virtual double Double(int column) const = 0;
  virtual std::string_view Bytes(int column) const = 0;
  virtual bool IsNull(int column) const = 0;
};

// One connection, used by one thread at a time.
class SqlDatabase {
 public:
  using Visit = std::function<absl::Status(std::size_t index, SqlRows& rows)>;

  virtual ~SqlDatabase() = default;

  // Returns the rows of one statement. PostgreSQL returns all rows at once, so a statement with
  // many rows needs a LIMIT. The rows must not outlive the database.
  template <typename... Args>
  absl::StatusOr<std::unique_ptr<SqlRows>> Query(std::string_view sql, const Args&... args) {
    return Execute(sql, MakeSqlArguments(args...));
  }

  // Runs one statement and ignores its rows.
  template <typename... Args>
  absl::Status Run(std::string_view sql, const Args&... args) {
    return Change(sql, args...).status();
  }

  // Runs one statement without RETURNING. Returns the number of rows that it changed.
  template <typename... Args>
  absl::StatusOr<int64_t> Change(std::string_view sql, const Args&... args) {
    return ExecuteChange(sql, MakeSqlArguments(args...));
  }

  // Returns the single integer that a statement selects; 0 if the statement returns no row or NULL.
  template <typename... Args>
  absl::StatusOr<int64_t> QueryInt64(std::string_view sql, const Args&... args) {
    TRAINYARD_ASSIGN_OR_RETURN(const auto rows, Query(sql, args...));
    TRAINYARD_ASSIGN_OR_RETURN(const bool has_row, rows->Next());
    return has_row ? rows->Int64(0) : 0;
  }

  // Runs the statement once for each element of `all`, in order, and passes its rows to `visit`,
  // which may be null. PostgreSQL gets many statements at once and answers in one round trip.
  // `visit` must not use the database.
  virtual absl::Status RunForEach(std::string_view sql, std::span<const SqlArguments> all,
                                  const Visit& visit) = 0;

  // File or name of the database, for messages.
  virtual const std::string& name() const = 0;

 protected:
  virtual absl::StatusOr<std::unique_ptr<SqlRows>> Execute(std::string_view sql,
                                                           std::span<const SqlValue> arguments) = 0;
  virtual absl::StatusOr<int64_t> ExecuteChange(std::string_view sql,
                                                std::span<const SqlValue> arguments) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQL_SQL_DATABASE_H_
