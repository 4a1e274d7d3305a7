// Support for dropping jobs. The rows of a dropped job are hidden under a negative job id until
// they are reclaimed.
#ifndef TRAINYARD_CONTROLLER_STORE_SQL_HIDDEN_ROWS_H_
#define TRAINYARD_CONTROLLER_STORE_SQL_HIDDEN_ROWS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "controller/store/sql/sql_database.h"

namespace trainyard::controller {

// Negates the job's id in the table's column job_id, within the caller's transaction. UNAVAILABLE:
// the rows of an earlier drop of the same job are not reclaimed yet.
absl::Status HideJob(const char* table, int64_t job_id, SqlDatabase& writer);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQL_HIDDEN_ROWS_H_
