#include "controller/store/postgres/postgres_database.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/postgres_error.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kActionBytesMax = 120;
// Bounds of one pipeline. Its answers are read only after all its statements were sent.
constexpr std::size_t kPipelineStatements = 512;
constexpr std::size_t kPipelineBytes = std::size_t{1} << 20;

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Settings of the user are parsed after the defaults and so have priority over them.
// tcp_user_timeout: without it, a connection to a vanished machine would end after 15 minutes.
constexpr const char* kDefaultKeys[] = {"fallback_application_name",
                                        "connect_timeout",
                                        "tcp_user_timeout",
                                        "keepalives_idle",
                                        "keepalives_interval",
                                        "keepalives_count",
                                        nullptr};
constexpr const char* kDefaultValues[] = {"trainyard", "5", "2000", "2", "1", "3", nullptr};

// synchronous_commit is not set: a server may demand more than `on`, but PrepareSession refuses
// `off`.
std::string SessionSettings(const PostgresLimits& limits) {
  return absl::StrCat("SET client_min_messages = error; ",
                      // For statements outside a transaction.
                      "SET default_transaction_isolation = 'read committed'; ",
                      "SET statement_timeout = ", limits.statement_ms, "; ",
                      "SET lock_timeout = ", limits.statement_ms / 2, "; ",
                      "SET idle_in_transaction_session_timeout = ", limits.idle_transaction_ms);
}

std::vector<PostgresArgument> Encode(std::span<const SqlValue> values) {
  std::vector<PostgresArgument> arguments;
  arguments.reserve(values.size());
  for (const SqlValue& value : values) arguments.push_back(ToArgument(value));
  return arguments;
}

class Cursor : public SqlRows {
 public:
  explicit Cursor(PostgresRows rows) : rows_(std::move(rows)) {}

  absl::StatusOr<bool> Next() override { return ++row_ < rows_.size(); }
  int64_t Int64(int column) const override { return rows_.Int64(row_, column); }
  double Double(int column) const override {
    return IsNull(column) ? std::numeric_limits<double>::quiet_NaN() : rows_.Double(row_, column);
  }
  std::string_view Bytes(int column) const override { return rows_.Bytes(row_, column); }
  bool IsNull(int column) const override { return rows_.IsNull(row_, column); }

 private:
  PostgresRows rows_;
  int row_ = -1;
};

std::string NameOfDatabase(pg_conn* connection) {
  const char* host = PQhost(connection);
  const char* database = PQdb(connection);
  return absl::StrCat("PostgreSQL database ", database == nullptr ? "" : database, " on ",
                      host == nullptr ? "" : host);
}

}  // namespace

PostgresRows::PostgresRows(PostgresRows&& other) noexcept
    : result_(std::exchange(other.result_, nullptr)) {}

PostgresRows::~PostgresRows() { PQclear(result_); }

int PostgresRows::size() const { return PQntuples(result_); }

int64_t PostgresRows::changed() const { return std::strtoll(PQcmdTuples(result_), nullptr, 10); }

std::string_view PostgresRows::Bytes(int row, int column) const {
  return {PQgetvalue(result_, row, column),
          static_cast<std::size_t>(PQgetlength(result_, row, column))};
}

bool PostgresRows::IsNull(int row, int column) const {
  return PQgetisnull(result_, row, column) != 0;
}

absl::StatusOr<std::unique_ptr<PostgresDatabase>> PostgresDatabase::Connect(
    const std::string& settings, const PostgresLimits& limits) {
  std::unique_ptr<PostgresDatabase> database(new PostgresDatabase(limits));
  TRAINYARD_RETURN_IF_ERROR(database->Open(settings));
  database->LimitAll(limits.connect_ms);
  TRAINYARD_RETURN_IF_ERROR(database->PrepareSession());
  database->UnlimitAll();
  return database;
}

PostgresDatabase::~PostgresDatabase() { PQfinish(connection_); }

absl::Status PostgresDatabase::Open(const std::string& settings) {
  char* parse_error = nullptr;
  PQconninfoOption* options = PQconninfoParse(settings.c_str(), &parse_error);
  if (options == nullptr) {
    const std::string message = parse_error == nullptr ? "out of memory" : parse_error;
    PQfreemem(parse_error);
    return absl::InvalidArgumentError(
        absl::StrCat("the PostgreSQL connection string cannot be read: ", message,
                     "; write it as for psql, for example service=trainyard"));
  }
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (int i = 0; kDefaultKeys[i] != nullptr; ++i) {
    keys.push_back(kDefaultKeys[i]);
    values.push_back(kDefaultValues[i]);
  }
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    keys.push_back(option->keyword);
    values.push_back(option->val);
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  connection_ = PQconnectStartParams(keys.data(), values.data(), 0);
  PQconninfoFree(options);
  if (connection_ == nullptr) return absl::ResourceExhaustedError("libpq: out of memory");
  // Adds the SQLSTATE to the message of a refusal; libpq does not return it in another way.
  PQsetErrorVerbosity(connection_, PQERRORS_VERBOSE);
  return WaitUntilConnected();
}

// PQconnectdb would wait without a limit for a stopped server.
absl::Status PostgresDatabase::WaitUntilConnected() {
  const int64_t deadline_ms = NowMs() + limits_.connect_ms;
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (PQstatus(connection_) != CONNECTION_BAD && state != PGRES_POLLING_OK) {
    if (state == PGRES_POLLING_FAILED) break;
    if (!WaitForSocket(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ms)) {
      name_ = NameOfDatabase(connection_);
      return Error("connect", "", absl::StrCat("no answer within ", limits_.connect_ms, " ms"));
    }
    state = PQconnectPoll(connection_);
  }
  name_ = NameOfDatabase(connection_);
  if (state != PGRES_POLLING_OK) return Error("connect", "", PQerrorMessage(connection_));
  PQsetErrorVerbosity(connection_, PQERRORS_DEFAULT);
  if (PQsetnonblocking(connection_, 1) != 0) {
    return Error("connect", "", PQerrorMessage(connection_));
  }
  return absl::OkStatus();
}

absl::Status PostgresDatabase::PrepareSession() {
  TRAINYARD_RETURN_IF_ERROR(RunScript(SessionSettings(limits_)));
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      Query("SELECT pg_backend_pid()::bigint, (current_setting('synchronous_commit') = "
            "'off')::int::bigint"));
  session_ = rows.Int64(0, 0);
  // A pooler invents the process id that it sends to its clients.
  if (session_ != PQbackendPID(connection_)) {
    return absl::FailedPreconditionError(absl::StrCat(
        name_,
        ": a connection pooler is between the controller and the server. The controller "
        "needs its own sessions, because a pooler may run each transaction in another "
        "session; connect to the server directly"));
  }
  if (rows.Int64(0, 1) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(name_,
                     ": synchronous_commit is off, so a crash of the server would lose "
                     "acknowledged events; set synchronous_commit = on"));
  }
  return absl::OkStatus();
}

bool PostgresDatabase::WaitForSocket(short events, int64_t deadline_ms) const {
  while (true) {
    pollfd socket{.fd = PQsocket(connection_), .events = events, .revents = 0};
    const int64_t left_ms = deadline_ms - NowMs();
    if (left_ms <= 0) return false;
    const int ready = poll(&socket, 1, static_cast<int>(left_ms));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

absl::Status PostgresDatabase::Error(std::string_view action, std::string_view sql_state,
                                     std::string_view message) const {
  return PostgresError({.database = name_,
                        .action = std::string(action.substr(0, kActionBytesMax)),
                        .sql_state = std::string(sql_state),
                        .message = std::string(message)});
}

void PostgresDatabase::LimitAll(int time_ms) { all_deadline_ms_ = NowMs() + time_ms; }

void PostgresDatabase::UnlimitAll() { all_deadline_ms_ = std::numeric_limits<int64_t>::max(); }

int64_t PostgresDatabase::AnswerDeadline() const {
  return std::min(NowMs() + limits_.answer_ms, all_deadline_ms_);
}

absl::Status PostgresDatabase::WaitForAnswer(int64_t deadline_ms, std::string_view action) {
  bool flushed = false;
  while (!flushed || PQisBusy(connection_) != 0) {
    if (!flushed) {
      const int left = PQflush(connection_);
      if (left < 0) return Error(action, "", PQerrorMessage(connection_));
      flushed = left == 0;
      if (flushed) continue;
    }
    const auto events = static_cast<short>(flushed ? POLLIN : POLLIN | POLLOUT);
    if (!WaitForSocket(events, deadline_ms)) {
      // The session must not be used again, because a late answer would be taken for the next one.
      PQfinish(std::exchange(connection_, nullptr));
      return Error(
          action, "",
          deadline_ms == all_deadline_ms_
              ? "the server is too slow: the time limit of a series of statements has passed"
              : absl::StrCat("no answer within ", limits_.answer_ms, " ms"));
    }
    if (PQconsumeInput(connection_) == 0) return Error(action, "", PQerrorMessage(connection_));
  }
  return absl::OkStatus();
}

absl::StatusOr<PostgresRows> PostgresDatabase::Finish(int sent, std::string_view action) {
  if (sent == 0) return Error(action, "", PQerrorMessage(connection_));
  const int64_t deadline_ms = AnswerDeadline();
  std::optional<PostgresRows> last;
  absl::Status status;
  while (true) {
    if (const absl::Status waited = WaitForAnswer(deadline_ms, action); !waited.ok()) {
      return status.ok() ? waited : status;
    }
    pg_result* result = PQgetResult(connection_);
    if (result == nullptr) break;
    last.emplace(result);
    const ExecStatusType code = PQresultStatus(result);
    if (code == PGRES_COMMAND_OK || code == PGRES_TUPLES_OK || !status.ok()) continue;
    const char* sql_state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    status = Error(action, sql_state == nullptr ? "" : sql_state, PQresultErrorMessage(result));
  }
  if (!status.ok()) return status;
  if (!last.has_value()) return Error(action, "", "the server sent no answer");
  return *std::move(last);
}

absl::StatusOr<const std::string*> PostgresDatabase::NameOf(
    const std::string& sql, const std::vector<PostgresArgument>& arguments) {
  const auto found = prepared_.find(sql);
  if (found != prepared_.end()) return &found->second;
  std::vector<unsigned> types;
  for (const PostgresArgument& argument : arguments) {
    types.push_back(static_cast<unsigned>(argument.type));
  }
  const std::string name = absl::StrCat("s", prepared_.size());
  const int sent = PQsendPrepare(connection_, name.c_str(), sql.c_str(),
                                 static_cast<int>(types.size()), types.data());
  TRAINYARD_RETURN_IF_ERROR(Finish(sent, sql).status());
  return &prepared_.emplace(sql, name).first->second;
}

int PostgresDatabase::Send(const std::string& name,
                           const std::vector<PostgresArgument>& arguments) {
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const PostgresArgument& argument : arguments) {
    values.push_back(argument.is_null ? nullptr : argument.bytes.data());
    lengths.push_back(static_cast<int>(argument.bytes.size()));
  }
  const std::vector<int> formats(arguments.size(), 1);
  return PQsendQueryPrepared(connection_, name.c_str(), static_cast<int>(values.size()),
                             values.data(), lengths.data(), formats.data(), 1);
}

absl::StatusOr<PostgresRows> PostgresDatabase::RunPrepared(
    const std::string& sql, const std::vector<PostgresArgument>& arguments) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string* name, NameOf(sql, arguments));
  return Finish(Send(*name, arguments), sql);
}

absl::StatusOr<std::unique_ptr<SqlRows>> PostgresDatabase::Execute(
    std::string_view sql, std::span<const SqlValue> arguments) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresRows rows, RunPrepared(std::string(sql), Encode(arguments)));
  return std::make_unique<Cursor>(std::move(rows));
}

absl::StatusOr<int64_t> PostgresDatabase::ExecuteChange(std::string_view sql,
                                                        std::span<const SqlValue> arguments) {
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows,
                             RunPrepared(std::string(sql), Encode(arguments)));
  return rows.changed();
}

absl::Status PostgresDatabase::RunForEach(std::string_view sql, std::span<const SqlArguments> all,
                                          const Visit& visit) {
  const std::string statement(sql);
  std::size_t next = 0;
  while (next < all.size()) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::string* name, NameOf(statement, Encode(all[next])));
    if (PQenterPipelineMode(connection_) == 0) {
      return Error(sql, "", PQerrorMessage(connection_));
    }
    const std::size_t first = next;
    std::size_t bytes = 0;
    int sent = 1;
    while (sent == 1 && next < all.size() && next - first < kPipelineStatements &&
           bytes < kPipelineBytes) {
      const std::vector<PostgresArgument> arguments = Encode(all[next++]);
      for (const PostgresArgument& argument : arguments) bytes += argument.bytes.size();
      sent = Send(*name, arguments);
    }
    if (sent == 0 || PQpipelineSync(connection_) == 0) {
      const absl::Status status = Error(sql, "", PQerrorMessage(connection_));
      // Answers to the statements that were sent would be taken for later ones.
      PQfinish(std::exchange(connection_, nullptr));
      return status;
    }
    TRAINYARD_RETURN_IF_ERROR(ReadPipeline(first, statement, visit));
  }
  return absl::OkStatus();
}

absl::Status PostgresDatabase::ReadPipeline(std::size_t first, const std::string& sql,
                                            const Visit& visit) {
  const int64_t deadline_ms = AnswerDeadline();
  absl::Status status;
  std::size_t index = first;
  while (true) {
    TRAINYARD_RETURN_IF_ERROR(WaitForAnswer(deadline_ms, sql));
    pg_result* result = PQgetResult(connection_);
    if (result == nullptr) {
      // The end of one answer.
      ++index;
      if (!IsAlive()) return status.ok() ? Error(sql, "", PQerrorMessage(connection_)) : status;
      continue;
    }
    Cursor rows{PostgresRows(result)};
    const ExecStatusType code = PQresultStatus(result);
    if (code == PGRES_PIPELINE_SYNC) break;
    // After an error, the server skips the rest of the pipeline.
    if (!status.ok() || code == PGRES_PIPELINE_ABORTED) continue;
    if (code == PGRES_COMMAND_OK || code == PGRES_TUPLES_OK) {
      if (visit != nullptr) status = visit(index, rows);
      continue;
    }
    const char* sql_state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    status = Error(sql, sql_state == nullptr ? "" : sql_state, PQresultErrorMessage(result));
  }
  if (PQexitPipelineMode(connection_) == 0) return Error(sql, "", PQerrorMessage(connection_));
  return status;
}

absl::Status PostgresDatabase::RunScript(const std::string& sql) {
  return Finish(PQsendQuery(connection_, sql.c_str()), sql).status();
}

int PostgresDatabase::socket() const { return PQsocket(connection_); }
std::string PostgresDatabase::host() const {
  const char* host = PQhost(connection_);
  return host == nullptr ? "" : host;
}

bool PostgresDatabase::IsAlive() const { return PQstatus(connection_) == CONNECTION_OK; }

bool PostgresDatabase::IsUsable() const {
  if (!IsAlive()) return false;
  // Between statements, the server sends only the reason of the session's end.
  pollfd socket{.fd = PQsocket(connection_), .events = POLLIN, .revents = 0};
  return poll(&socket, 1, 0) == 0;
}

bool PostgresDatabase::IsIdle() const { return PQtransactionStatus(connection_) == PQTRANS_IDLE; }

bool PostgresDatabase::HasFailed() const {
  return PQtransactionStatus(connection_) == PQTRANS_INERROR;
}

absl::StatusOr<PostgresTransaction> PostgresTransaction::BeginWrite(PostgresDatabase& database) {
  TRAINYARD_RETURN_IF_ERROR(database.RunScript("BEGIN ISOLATION LEVEL READ COMMITTED"));
  return PostgresTransaction(database);
}

absl::StatusOr<PostgresTransaction> PostgresTransaction::BeginRead(PostgresDatabase& database) {
  TRAINYARD_RETURN_IF_ERROR(database.RunScript("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  return PostgresTransaction(database);
}

PostgresTransaction::PostgresTransaction(PostgresTransaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

PostgresTransaction::~PostgresTransaction() {
  // If the rollback fails, the connection is not idle and the pool closes it.
  if (database_ != nullptr) database_->RunScript("ROLLBACK").IgnoreError();
}

absl::Status PostgresTransaction::Commit() {
  // The server would answer COMMIT with a rollback, but not with an error.
  if (database_->HasFailed()) {
    return absl::InternalError(absl::StrCat(
        database_->name(), ": a statement of the transaction failed, so it cannot be committed"));
  }
  TRAINYARD_RETURN_IF_ERROR(database_->RunScript("COMMIT"));
  database_ = nullptr;
  return absl::OkStatus();
}

}  // namespace trainyard::controller
