// `#SBATCH` lines of a batch script.
#ifndef TRAINYARD_CLI_CONVERT_BATCH_OPTIONS_H_
#define TRAINYARD_CLI_CONVERT_BATCH_OPTIONS_H_

#include <map>
#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Sets resources, name and directory from `#SBATCH` lines, and notes what a job does not have.
// Returns the variables that SLURM gives to the script: SLURM_NNODES and its like.
std::map<std::string, std::string> TakeBatchOptions(const std::string& text, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_BATCH_OPTIONS_H_
