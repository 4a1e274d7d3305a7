// Reads commands that start a training program on each GPU: torchrun, deepspeed, accelerate, srun.
#ifndef TRAINYARD_CLI_CONVERT_LAUNCH_LINE_H_
#define TRAINYARD_CLI_CONVERT_LAUNCH_LINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/convert/job_draft.h"
#include "cli/convert/shell/shell_script.h"

namespace trainyard::cli {

// Set for a launcher that stays in the command and starts the ranks of its node.
inline constexpr char kProcessesPerNode[] = "launch.processes_per_node";

// True for a command that starts a training program, directly or through a launcher.
bool IsLaunchLine(const ScriptCommand& command);

// True for a command that runs a Python program without a launcher.
bool IsPythonRun(const ScriptCommand& command);

struct LaunchedProgram {
  ScriptCommand words;        // Command of the ranks; empty if the line does not contain it.
  int64_t tasks_on_node = 0;  // From srun; 0 if not given.
  bool has_launcher = false;  // True if the launcher starts one process per GPU, as torchrun does.
  // The command of the launcher, if it must stay, and the options for which it must.
  ScriptCommand launcher;
  std::vector<std::string> options;
};

// Sets the draft's resources from the launcher's options. Adds notes about options that jobs do not
// support.
LaunchedProgram TakeLauncher(const ScriptCommand& command, JobDraft& draft);

// Returns the command of the job. If the launcher must stay, the command contains it, and the job
// starts one launcher per node.
ScriptCommand KeepLauncher(const LaunchedProgram& launched, JobDraft& draft);

// Makes `program` the job's command. The job then runs its own program, not trainyard-trainer.
// Refuses a word whose value is not in the script.
void TakeProgram(const ScriptCommand& program, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_LAUNCH_LINE_H_
