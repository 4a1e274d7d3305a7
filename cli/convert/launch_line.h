// Commands that start a training program on each GPU: torchrun, deepspeed, accelerate, srun.
#ifndef TRAINYARD_CLI_CONVERT_LAUNCH_LINE_H_
#define TRAINYARD_CLI_CONVERT_LAUNCH_LINE_H_

#include <cstdint>
#include <string>

#include "cli/convert/job_draft.h"
#include "cli/convert/source/shell_script.h"

namespace trainyard::cli {

// True for a command that starts a training program, possibly by a launcher.
bool IsLaunchLine(const ScriptCommand& command);

struct LaunchedProgram {
  ScriptCommand words;        // The ranks' command. Empty where that is not in the line.
  int64_t tasks_on_node = 0;  // Of srun; 0: not said.
  bool has_launcher = false;  // One that starts a process on each GPU: torchrun and its like.
};

// Takes the resources of the launcher's options into the draft, and notes what a job cannot do.
LaunchedProgram TakeLauncher(const ScriptCommand& command, JobDraft& draft);

// Makes the words the command of a job that runs its own program.
void TakeProgram(const ScriptCommand& program, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_LAUNCH_LINE_H_
