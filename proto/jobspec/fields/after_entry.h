// One entry of `after`: a job for which another job waits, and the condition on that job.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_AFTER_ENTRY_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_AFTER_ENTRY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard {

struct AfterEntry {
  std::string job;  // A number, a name or "@last".
  v1::JobCondition condition = v1::JOB_CONDITION_SUCCESS;
  int64_t step = 0;  // As in Prerequisite.
};

// Parses "JOB", "JOB:CONDITION" or "JOB:checkpoint:STEP". Does not check JOB. INVALID_ARGUMENT: the
// message names the invalid part.
absl::StatusOr<AfterEntry> ParseAfterEntry(const std::string& text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_AFTER_ENTRY_H_
