// The sessions of a database, for its types of connections and transactions.
#ifndef TRAINYARD_CONTROLLER_STORE_SQL_SQL_SESSIONS_H_
#define TRAINYARD_CONTROLLER_STORE_SQL_SQL_SESSIONS_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "controller/store/sql/sql_connections.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {

template <typename Database, typename Transaction>
class WriteSession : public SqlSession {
 public:
  WriteSession(Database& writer, Transaction transaction)
      : writer_(writer), transaction_(std::move(transaction)) {}

  absl::Status Commit() override { return transaction_.Commit(); }

 private:
  SqlDatabase& database() override { return writer_; }

  Database& writer_;
  Transaction transaction_;
};

// `Lease` is a connection that returns to its pool when it is destroyed.
template <typename Lease, typename Transaction>
class ReadSession : public SqlSession {
 public:
  explicit ReadSession(Lease reader) : reader_(std::move(reader)) {}

  // From now on, all statements read one state of the database.
  absl::Status BeginView() {
    TRAINYARD_ASSIGN_OR_RETURN(auto view, Transaction::BeginRead(*reader_));
    view_.emplace(std::move(view));
    return absl::OkStatus();
  }

  absl::Status Commit() override {
    return absl::FailedPreconditionError("a reader has no changes");
  }

 private:
  SqlDatabase& database() override { return *reader_; }

  Lease reader_;
  std::optional<Transaction> view_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQL_SQL_SESSIONS_H_
