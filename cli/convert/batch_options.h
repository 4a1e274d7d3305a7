// `#SBATCH` lines of a batch script.
#ifndef TRAINYARD_CLI_CONVERT_BATCH_OPTIONS_H_
#define TRAINYARD_CLI_CONVERT_BATCH_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Sets resources, name and directory from `#SBATCH` lines, and notes what a job does not have.
// Returns the variables that SLURM gives to the script: SLURM_NNODES and its like.
std::map<std::string, std::string> TakeBatchOptions(const std::string& text, JobDraft& draft);

// GPUs of a node by `--gpus-per-node` ("8", "h100:8") or `--gres` ("gpu:8", "gpu:h100:8"); nothing
// where the value does not say it.
std::optional<int64_t> GpusOnNode(const std::string& option, const std::string& value);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_BATCH_OPTIONS_H_
