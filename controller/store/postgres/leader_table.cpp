#include "controller/store/postgres/leader_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/store/leader/leader_rule.h"
#include "controller/store/postgres/event_rows.h"

namespace trainyard::controller {
namespace {

// Returns the term of the leader that wrote the newest event; 0 if there is none. After a move or a
// restore into a new schema, the term in the log may be above that in the row. Workers refuse a
// leader whose term is below one that they have seen.
absl::StatusOr<int64_t> NewestTermInLog(PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      database.Query("SELECT seq, payload, checksum FROM event ORDER BY seq DESC LIMIT 1"));
  if (rows.size() == 0) return 0;
  TRAINYARD_ASSIGN_OR_RETURN(const v1::Event event, ReadEventRow(rows, 0, database));
  return event.leader_term();
}

}  // namespace

absl::StatusOr<int64_t> BeginTerm(const TermRequest& request, PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, PostgresTransaction::BeginWrite(database));
  TRAINYARD_RETURN_IF_ERROR(
      database.RunScript(absl::StrCat("SET LOCAL lock_timeout = ", request.wait_ms)));
  TRAINYARD_RETURN_IF_ERROR(WaitForLeaderWrites(database));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t log_term, NewestTermInLog(database));
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t term,
      database.QueryInt64("UPDATE leader SET term = $4, holder = $1, session = $2, renewed = "
                          "clock_timestamp(), successor = '' WHERE term = $3 RETURNING term",
                          request.holder, database.session(), request.seen_term,
                          NextTerm(std::max(request.seen_term, log_term))));
  if (term == 0) return term;
  // A leader is no standby. Rows of the last day suffice, because standbys report all the time.
  TRAINYARD_RETURN_IF_ERROR(
      database.Run("DELETE FROM standby WHERE address = $1 OR reported < clock_timestamp() - "
                   "interval '1 day'",
                   request.holder));
  TRAINYARD_RETURN_IF_ERROR(transaction.Commit());
  return term;
}

absl::StatusOr<PostgresTransaction> BeginLeaderWrite(int64_t term, PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, PostgresTransaction::BeginWrite(database));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t found,
                             database.QueryInt64("SELECT term FROM leader FOR KEY SHARE"));
  if (MayWrite(term, found)) return transaction;
  return LeadershipLost(term, database);
}

absl::Status WaitForLeaderWrites(PostgresDatabase& database) {
  return database.Run("SELECT 1 FROM leader FOR UPDATE");
}

absl::Status LeadershipLost(int64_t term, PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t current, database.QueryInt64("SELECT term FROM leader"));
  return absl::AbortedError(absl::StrCat(
      database.name(), ": the leadership of term ", term, " is lost, because term ", current,
      " has begun; nothing was written. This controller must exit; the leader continues"));
}

}  // namespace trainyard::controller
