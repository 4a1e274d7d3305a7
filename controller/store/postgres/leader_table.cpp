#include "controller/store/postgres/leader_table.h"

#include "absl/strings/str_cat.h"
#include "controller/store/leader/leader_rule.h"

namespace trainyard::controller {

absl::StatusOr<int64_t> BeginTerm(const TermRequest& request, PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, PostgresTransaction::BeginWrite(database));
  TRAINYARD_RETURN_IF_ERROR(
      database.RunScript(absl::StrCat("SET LOCAL lock_timeout = ", request.wait_ms)));
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t term,
      database.QueryInt64("UPDATE leader SET term = $4, holder = $1, session = $2, renewed = "
                          "clock_timestamp(), successor = '' WHERE term = $3 RETURNING term",
                          request.holder, database.session(), request.seen_term,
                          NextTerm(request.seen_term)));
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
                             database.QueryInt64("SELECT term FROM leader FOR SHARE"));
  if (MayWrite(term, found)) return transaction;
  return LeadershipLost(term, database);
}

absl::Status LeadershipLost(int64_t term, PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t current, database.QueryInt64("SELECT term FROM leader"));
  return absl::AbortedError(absl::StrCat(
      database.name(), ": the leadership of term ", term, " is lost, because term ", current,
      " has begun; nothing was written. This controller must exit; the leader continues"));
}

}  // namespace trainyard::controller
