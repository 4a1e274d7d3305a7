#include "controller/store/postgres/postgres_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controller/store/postgres/postgres_value.h"

namespace trainyard::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;

absl::Status ErrorWith(const std::string& sql_state, const std::string& message) {
  return PostgresError({.database = "PostgreSQL database a on b",
                        .action = "INSERT",
                        .sql_state = sql_state,
                        .message = message});
}

TEST(PostgresErrorTest, NamesDatabaseActionCauseAndNextStep) {
  const absl::Status status = ErrorWith("53100", "could not extend file:\nNo space left\n");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "PostgreSQL database a on b: cannot INSERT: could not extend file: No space left "
            "(53100); free disk space or memory on the database server");
}

struct PostgresErrorCase {
  const char* sql_state;
  const char* message;
  absl::StatusCode code;
  const char* next_step;
};

TEST(PostgresErrorTest, EachCauseHasItsCodeAndNextStep) {
  using enum absl::StatusCode;
  const PostgresErrorCase cases[] = {
      {"", "FATAL:  28P01: password authentication failed", kUnauthenticated, ".pgpass"},
      {"", "on socket \"x\" failed: SCHWERWIEGEND:  3D000: Datenbank", kNotFound, "createdb"},
      {"", "fe_sendauth: no password supplied", kUnauthenticated, ".pgpass"},
      {"", "definition of service \"a\" not found", kInvalidArgument, "service file"},
      {"", "FATAL:  53300: sorry, too many clients", kResourceExhausted, "max_connections"},
      {"", "FATAL:  57P03: the database system is starting up", kUnavailable, "database server"},
      {"", "FATAL:  abcde: no code", kUnavailable, "server runs"},
      {"", "session is read-only", kPermissionDenied, "primary"},
      {"", "connection refused", kUnavailable, "server runs"},
      {"3F000", "no schema has been selected to create in", kNotFound, "search_path"},
      {"53300", "too many connections for role", kResourceExhausted, "connection limit"},
      {"25006", "cannot execute INSERT in a read-only transaction", kPermissionDenied, "replica"},
      {"42501", "permission denied for table event", kPermissionDenied, "grant"},
      {"26000", "prepared statement \"s1\" does not exist", kFailedPrecondition, "pooler"},
      {"57014", "canceling statement due to statement timeout", kUnavailable, "overloaded"},
      {"57P01", "terminating connection due to administrator command", kUnavailable, "its log"},
      {"25P03", "idle-in-transaction timeout", kUnavailable, "stopped"},
      {"40001", "could not serialize access", kUnavailable, "retry"},
      {"XX001", "invalid page in block 3", kDataLoss, "restore a backup"},
      {"22012", "division by zero", kInternal, "log of the database server"},
  };
  for (const PostgresErrorCase& one : cases) {
    const absl::Status status = ErrorWith(one.sql_state, one.message);
    EXPECT_EQ(status.code(), one.code) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(one.message), HasSubstr(one.next_step)));
  }
}

TEST(PostgresValueTest, NumbersKeepSignAndEveryBit) {
  for (const int64_t value : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{256}}) {
    EXPECT_EQ(DecodeInt64(ToArgument(value).bytes), value);
  }
  EXPECT_EQ(DecodeInt64(std::string("\xff\xff\xff\xfe", 4)), -2) << "an integer of 4 bytes";
  EXPECT_EQ(DecodeInt64(std::string("\1", 1)), 1) << "a boolean";
  EXPECT_EQ(DecodeInt64(""), 0) << "NULL";
  EXPECT_EQ(DecodeDouble(ToArgument(-1.5e300).bytes), -1.5e300);
}

}  // namespace
}  // namespace trainyard::controller
