// Shell scripts that start training: SLURM's batch scripts, launch lines, Megatron-LM's commands.
#ifndef TRAINYARD_CLI_CONVERT_SCRIPT_READER_H_
#define TRAINYARD_CLI_CONVERT_SCRIPT_READER_H_

#include <string>

#include "absl/status/status.h"
#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// True for a text with `#SBATCH` lines.
bool IsBatchScript(const std::string& text);
// True for a text that starts Megatron-LM: a script whose name holds `pretrain_`.
bool IsMegatronScript(const std::string& text);
// True for a text with a command that starts a training program.
bool IsLaunchScript(const std::string& text);

absl::Status ReadScript(const std::string& text, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SCRIPT_READER_H_
