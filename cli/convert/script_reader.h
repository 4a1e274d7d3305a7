// Reads shell scripts that start training: SLURM's batch scripts, launch lines, and commands of
// Megatron-LM.
#ifndef TRAINYARD_CLI_CONVERT_SCRIPT_READER_H_
#define TRAINYARD_CLI_CONVERT_SCRIPT_READER_H_

#include <string>

#include "absl/status/status.h"
#include "cli/convert/job_draft.h"
#include "cli/convert/shell/shell_script.h"

namespace trainyard::cli {

// True for a text with `#SBATCH` lines.
bool IsBatchScript(const std::string& text);
// True for a text that starts Megatron-LM, that is, runs a script with `pretrain_` in its name.
bool IsMegatronScript(const std::string& text);
// True for a text with a command that starts a training program.
bool IsLaunchScript(const std::string& text);
// True for a text that only assigns variables, for the scripts that are read after it.
bool IsVariableScript(const std::string& text);

struct ScriptOptions {
  // The job runs the script's program even if trainyard-trainer supports the run.
  bool keeps_command = false;
  // The script may lack a command that starts training, because a later source has one.
  bool is_before_others = false;
};

// Reads the script after the scripts that gave `state`, and updates the state.
absl::Status ReadScript(const std::string& text, const ScriptOptions& options, ShellState& state,
                        JobDraft& draft);

// Reads a script whose purpose is to start training. If none of its commands is recognized as
// starting the training, uses the last command. Returns false if there is no command.
bool ReadEntrypoint(const ShellScript& script, bool keeps_command, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SCRIPT_READER_H_
