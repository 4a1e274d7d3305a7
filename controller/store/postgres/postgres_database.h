// A thin RAII layer over libpq: connections, prepared statements, transactions.
//
// Every wait has a limit (PostgresLimits).
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_DATABASE_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_DATABASE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/postgres/postgres_value.h"
#include "controller/store/sql/sql_database.h"
#include "proto/support/status_macros.h"

struct pg_conn;
struct pg_result;

namespace trainyard::controller {

// All in milliseconds.
struct PostgresLimits {
  int connect_ms = 5'000;
  // The server ends a statement after this time, and a wait for a lock after half of it.
  int statement_ms = 10'000;
  // The server ends a session whose transaction waits this long for the next statement.
  int idle_transaction_ms = 2'000;
  // Time limit for an answer of the server. After it, the connection is closed, and every later
  // call returns UNAVAILABLE.
  int answer_ms = 12'000;
};

// The rows that a statement returned.
class PostgresRows {
 public:
  explicit PostgresRows(pg_result* result) : result_(result) {}
  PostgresRows(PostgresRows&& other) noexcept;
  PostgresRows& operator=(PostgresRows&&) = delete;
  ~PostgresRows();

  int size() const;
  // The number of rows that the statement changed.
  int64_t changed() const;
  // Rows and columns count from 0. NULL is 0 or empty.
  int64_t Int64(int row, int column) const { return DecodeInt64(Bytes(row, column)); }
  double Double(int row, int column) const { return DecodeDouble(Bytes(row, column)); }
  // The view is valid as long as this object.
  std::string_view Bytes(int row, int column) const;
  bool IsNull(int row, int column) const;

 private:
  pg_result* result_;
};

// One connection, used by one thread at a time.
class PostgresDatabase final : public SqlDatabase {
 public:
  // `settings` is a connection string of libpq, such as "service=trainyard", a list of
  // key=value pairs, or a postgresql:// URI. Environment variables, service files and password
  // files apply as in psql.
  static absl::StatusOr<std::unique_ptr<PostgresDatabase>> Connect(
      const std::string& settings, const PostgresLimits& limits = {});

  PostgresDatabase(const PostgresDatabase&) = delete;
  PostgresDatabase& operator=(const PostgresDatabase&) = delete;
  ~PostgresDatabase() override;

  // Limits the time of all statements from now on together, in addition to the limits of each.
  // After it, the connection is closed as after answer_ms.
  void LimitAll(int time_ms);
  // Removes the limit.
  void UnlimitAll();

  // Runs one statement, prepared at its first use, and returns all its rows. The caller bounds
  // their number with LIMIT. Arguments: integers, floating-point numbers, strings (bytea), and
  // vectors of int64_t or std::string_view. Columns must be of these types.
  template <typename... Args>
  absl::StatusOr<PostgresRows> Query(const std::string& sql, const Args&... args) {
    return RunPrepared(sql, {ArgumentOf(args)...});
  }

  template <typename... Args>
  absl::Status Run(const std::string& sql, const Args&... args) {
    return Query(sql, args...).status();
  }

  // Returns the first column of the first row, an integer; 0 if there is no row or it is NULL.
  template <typename... Args>
  absl::StatusOr<int64_t> QueryInt64(const std::string& sql, const Args&... args) {
    TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows, Query(sql, args...));
    return rows.size() == 0 ? 0 : rows.Int64(0, 0);
  }

  // Runs statements without arguments. Outside a transaction, all of them are one transaction.
  absl::Status RunScript(const std::string& sql);

  // Statements are sent in libpq's pipeline mode, about 1 MiB at a time.
  absl::Status RunForEach(std::string_view sql, std::span<const SqlArguments> all,
                          const Visit& visit) override;

  // Host and name of the database, for messages.
  const std::string& name() const override { return name_; }
  // Host or socket directory of the server.
  std::string host() const;
  // The process id of this session on the server.
  int64_t session() const { return session_; }
  // The socket of the connection.
  int socket() const;
  // False once the connection is lost.
  bool IsAlive() const;
  // False also if the server has ended the session since the last statement, as a stopping server
  // does. Only between statements.
  bool IsUsable() const;
  // False if the last transaction failed to roll back.
  bool IsIdle() const;
  // True if a statement of the open transaction has failed.
  bool HasFailed() const;

 private:
  explicit PostgresDatabase(const PostgresLimits& limits) : limits_(limits) {}

  absl::Status Open(const std::string& settings);
  absl::Status WaitUntilConnected();
  absl::Status PrepareSession();
  absl::StatusOr<std::unique_ptr<SqlRows>> Execute(std::string_view sql,
                                                   std::span<const SqlValue> arguments) override;
  absl::StatusOr<int64_t> ExecuteChange(std::string_view sql,
                                        std::span<const SqlValue> arguments) override;
  absl::StatusOr<PostgresRows> RunPrepared(const std::string& sql,
                                           const std::vector<PostgresArgument>& arguments);
  // Sends the statement without waiting. Returns the result of the libpq call.
  int Send(const std::string& name, const std::vector<PostgresArgument>& arguments);
  // Reads the answers to all statements of a pipeline. Answer i is passed to visit(first + i).
  absl::Status ReadPipeline(std::size_t first, const std::string& sql, const Visit& visit);
  absl::StatusOr<const std::string*> NameOf(const std::string& sql,
                                            const std::vector<PostgresArgument>& arguments);
  // Returns the time until which the answer to a statement that is sent now must arrive.
  int64_t AnswerDeadline() const;
  // Sends what is left of the statement, then waits until an answer can be read.
  absl::Status WaitForAnswer(int64_t deadline_ms, std::string_view action);
  // Reads the answer to the statement that was sent. `sent` is the result of the libpq call.
  absl::StatusOr<PostgresRows> Finish(int sent, std::string_view action);
  // Returns false if the socket was not ready in time.
  bool WaitForSocket(short events, int64_t deadline_ms) const;
  absl::Status Error(std::string_view action, std::string_view sql_state,
                     std::string_view message) const;

  const PostgresLimits limits_;
  pg_conn* connection_ = nullptr;
  std::string name_;
  int64_t session_ = 0;
  // End of the time of LimitAll.
  int64_t all_deadline_ms_ = std::numeric_limits<int64_t>::max();
  // Names of prepared statements, by their SQL. The program has a fixed set of statements.
  std::map<std::string, std::string> prepared_;
};

// A transaction. Its destructor rolls back unless Commit succeeded.
class PostgresTransaction {
 public:
  static absl::StatusOr<PostgresTransaction> BeginWrite(PostgresDatabase& database);
  // Begins a transaction for reading. All its statements see the same state of the database.
  static absl::StatusOr<PostgresTransaction> BeginRead(PostgresDatabase& database);

  PostgresTransaction(PostgresTransaction&& other) noexcept;
  PostgresTransaction& operator=(PostgresTransaction&&) = delete;
  ~PostgresTransaction();

  // If this returns OK, the changes are durable as the server's synchronous_commit says. After an
  // error without an SQLSTATE, the transaction may or may not be committed.
  absl::Status Commit();

 private:
  explicit PostgresTransaction(PostgresDatabase& database) : database_(&database) {}

  PostgresDatabase* database_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_DATABASE_H_
