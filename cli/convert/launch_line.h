// Commands that start a training program on each GPU: torchrun, deepspeed, accelerate, srun.
#ifndef TRAINYARD_CLI_CONVERT_LAUNCH_LINE_H_
#define TRAINYARD_CLI_CONVERT_LAUNCH_LINE_H_

#include <string>

#include "cli/convert/job_draft.h"
#include "cli/convert/source/shell_script.h"

namespace trainyard::cli {

// True for a command that starts a training program, possibly by a launcher.
bool IsLaunchLine(const ScriptCommand& command);

// Takes the resources of the launcher's options into the draft, notes what a job cannot do, and
// returns the program with its arguments: the ranks' command. Empty where that is not in the line.
ScriptCommand TakeLauncher(const ScriptCommand& command, JobDraft& draft);

// Makes the words the command of a job that runs its own program.
void TakeProgram(const ScriptCommand& program, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_LAUNCH_LINE_H_
