#include "controller/store/sql/hidden_rows.h"

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {

absl::Status HideJob(const char* table, int64_t job_id, SqlDatabase& writer) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t earlier,
      writer.QueryInt64(absl::StrCat("SELECT COUNT(*) FROM ", table, " WHERE job_id = $1"),
                        -job_id));
  if (earlier != 0)
    return absl::UnavailableError("an earlier removal of the job's data is not complete yet");
  return writer.Run(absl::StrCat("UPDATE ", table, " SET job_id = -job_id WHERE job_id = $1"),
                    job_id);
}

}  // namespace trainyard::controller
