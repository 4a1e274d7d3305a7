// Computes program, environment and working directory of one process from the command. Pure.
#ifndef TRAINYARD_WORKER_CORE_PROCESS_LAUNCH_H_
#define TRAINYARD_WORKER_CORE_PROCESS_LAUNCH_H_

#include <map>
#include <string>
#include <vector>

#include "trainyard/v1/exec.pb.h"
#include "trainyard/v1/node.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// The inputs of a launch that come from the node: paths, programs, environment, secrets and
// devices.
struct LaunchSite {
  // Absolute path of the run directory, passed as TRAINYARD_RUN_DIR.
  std::string run_dir;
  // Directory of the job's code; empty if it has none.
  std::string code_dir;
  std::string spec_path;
  std::string telemetry_path;
  std::string heal_path;
  // File in which the program may describe its error, passed as TORCHELASTIC_ERROR_FILE.
  std::string error_path;
  // Programs of training jobs without a command, and of data jobs.
  std::string trainer_program;
  std::string data_program;
  // Program that prepares the environment of jobs with the section `environment`, and the directory
  // in which the program keeps the state of setups.
  std::string worker_program;
  std::string environment_dir;
  // Variables of the worker's own environment. Only those in PassedThroughVariables() are used.
  std::map<std::string, std::string> worker_environment;
  // This node's values of the secrets that the job lists in `secrets`, by variable.
  std::map<std::string, std::string> secrets;
  v1::Inventory inventory;
  // Network interface with the worker's address; empty if unknown.
  std::string network_interface;
};

struct ProcessLaunch {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  // Environment variables that contain secrets. `environment` has no variable of the same name.
  std::map<std::string, std::string> secrets;
  std::string working_directory;
  // Reason why this node cannot start the process, such as an unset variable. Empty: none.
  std::string problem;
};

// Returns the names of the worker's variables that a rank inherits, such as PATH and HOME.
const std::vector<std::string>& PassedThroughVariables();

// Returns the directory in which a rank runs. The only place that decides it.
std::string WorkingDirectoryOf(const v1::JobSpec& spec, const LaunchSite& site);

// Returns the launch of one process. CheckShapes must have accepted `attempt`. worker/README.md
// documents every variable. The job's own `env` overrides all variables except TRAINYARD_*.
ProcessLaunch MakeProcessLaunch(const v1::StartAttempt& attempt, const v1::Process& process,
                                const LaunchSite& site);

// Returns the launch of a command that a user runs beside the process (v1::OpenExec), with the
// process's environment and working directory. An empty command is an interactive shell.
ProcessLaunch MakeExecLaunch(const v1::StartAttempt& attempt, const v1::Process& process,
                             const LaunchSite& site, const v1::ExecCommand& command);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_PROCESS_LAUNCH_H_
