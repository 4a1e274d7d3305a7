// Errors of PostgreSQL as statuses. Each message contains the database, the attempted action, the
// cause and the next step.
//   RESOURCE_EXHAUSTED   the database's disk or memory is full, or all connections are in use
//   UNAVAILABLE          the server is down, starting, stopping or slow; a retry may succeed
//   UNAUTHENTICATED      the password or the user is wrong
//   PERMISSION_DENIED    the user lacks a right, or the server is read-only
//   INVALID_ARGUMENT     the connection string or the service file is wrong
//   NOT_FOUND            the database or the schema does not exist
//   FAILED_PRECONDITION  a connection pooler is in between, or the schema is of another release
//   DATA_LOSS            PostgreSQL reports damaged data
//   ABORTED              another controller leads
//   INTERNAL             anything else
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_ERROR_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard::controller {

struct PostgresFailure {
  std::string database;  // Host and database name, without a password.
  std::string action;    // The statement or the step that failed.
  // Five characters of the SQL standard and of PostgreSQL's list of error codes. Empty if the
  // connection failed before or without an answer of the server.
  std::string sql_state;
  std::string message;  // The message of the server or of libpq.
};

absl::Status PostgresError(const PostgresFailure& failure);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_ERROR_H_
