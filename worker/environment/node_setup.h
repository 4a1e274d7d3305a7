// Runs the setup of a job once per node.
#ifndef TRAINYARD_WORKER_ENVIRONMENT_NODE_SETUP_H_
#define TRAINYARD_WORKER_ENVIRONMENT_NODE_SETUP_H_

#include <string>

#include "worker/core/environment_options.h"
#include "worker/environment/captured_program.h"

namespace trainyard::worker {

// A setup of which more than this many have succeeded on the node is forgotten and runs again.
inline constexpr std::size_t kMaxSetupMarks = 1000;

// The failure of a step before the rank's program starts.
struct StepFailure {
  int exit_code = 0;    // 0: no failure.
  std::string message;  // For the user.
};

// Returns the text that identifies the setup: the section of the job file, the working directory,
// the contents of the files that the setup names, and the identity of the venv. The run directory
// of a rank does not count as working directory, because every rank has its own.
std::string SetupKey(const EnvironmentOptions& options, const Variables& variables);

// Runs the setup, unless it has succeeded on this node before. While another rank of the node runs
// it, waits for that rank. The output of the setup is part of the rank's output. Exit codes: 124
// after the timeout, 127 if the program does not exist, otherwise that of the setup.
StepFailure RunSetup(const EnvironmentOptions& options, const Variables& variables);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_ENVIRONMENT_NODE_SETUP_H_
