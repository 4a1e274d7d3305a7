// Reads the `#SBATCH` lines of a batch script.
#ifndef TRAINYARD_CLI_CONVERT_BATCH_OPTIONS_H_
#define TRAINYARD_CLI_CONVERT_BATCH_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/convert/batch_host.h"
#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Sets the job's resources, name and directory from the `#SBATCH` lines of `text`. Adds a note for
// each option that has no counterpart in a job. Returns the variables that SLURM would set for the
// script, such as SLURM_NNODES. `host` collects the options about CPUs and memory. Call its Finish
// when the whole script has been read: a launch line can set the number of slots.
std::map<std::string, std::string> TakeBatchOptions(const std::string& text, JobDraft& draft,
                                                    BatchHost& host);

// Returns the GPUs per node from `--gpus-per-node` ("8", "h100:8") or `--gres` ("gpu:8",
// "gpu:h100:8"). Returns nullopt if the value has no number.
std::optional<int64_t> GpusOnNode(const std::string& option, const std::string& value);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_BATCH_OPTIONS_H_
