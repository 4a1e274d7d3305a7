// The row of the leader. Only one of several controllers on a schema may write: the one whose term
// the row names. The check is part of each writing transaction, so no clock is involved.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADER_TABLE_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADER_TABLE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/postgres/postgres_database.h"

namespace trainyard::controller {

struct TermRequest {
  int64_t seen_term = 0;  // The term in the row when the controller decided to take over.
  std::string holder;
  int64_t wait_ms = 0;  // Limit of the wait for open transactions of the present leader.
};

// Begins a term above `seen_term` and above all terms in the log, and returns its number; 0 if
// another controller was faster. All later transactions of the present leader fail. UNAVAILABLE: an
// open transaction of the present leader has not ended in time.
absl::StatusOr<int64_t> BeginTerm(const TermRequest& request, PostgresDatabase& database);

// Begins a transaction of the leader of `term`. The next term begins only after this transaction
// has ended. ABORTED: another term has begun. The row is locked FOR KEY SHARE, which does not delay
// renewals of the row. With a stronger lock, a leader on a slow network could not renew the row in
// time during its own writes.
absl::StatusOr<PostgresTransaction> BeginLeaderWrite(int64_t term, PostgresDatabase& database);

// Call in the transaction that changes the term in the row, before the change. Waits until no
// transaction of the leader is open. The leader can begin a further one only after the present
// transaction has ended.
absl::Status WaitForLeaderWrites(PostgresDatabase& database);

// Returns ABORTED, with both terms. The controller must exit without an answer to anyone.
absl::Status LeadershipLost(int64_t term, PostgresDatabase& database);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADER_TABLE_H_
