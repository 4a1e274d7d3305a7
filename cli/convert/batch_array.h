// Reads the option `--array` of a batch script.
#ifndef TRAINYARD_CLI_CONVERT_BATCH_ARRAY_H_
#define TRAINYARD_CLI_CONVERT_BATCH_ARRAY_H_

#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Sets `matrix` and `max_concurrent` from a value such as "0-99%10", "0-15:4" or "1,3,5-7". The
// elements have Slurm's numbers in TRAINYARD_ARRAY_INDEX. Adds a note if the value is not
// understood, and one about the name of the variable.
void TakeBatchArray(const std::string& value, int line, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_BATCH_ARRAY_H_
