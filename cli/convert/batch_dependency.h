// Reads the option `--dependency` of a batch script.
#ifndef TRAINYARD_CLI_CONVERT_BATCH_DEPENDENCY_H_
#define TRAINYARD_CLI_CONVERT_BATCH_DEPENDENCY_H_

#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Sets `after` from a value such as "afterok:prep:tokens,afternotok:probe". Only jobs of Trainyard
// can be named. A number is the number of a job of Slurm, so it is not converted. Adds a note for
// each part that is not converted.
void TakeBatchDependency(const std::string& value, int line, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_BATCH_DEPENDENCY_H_
