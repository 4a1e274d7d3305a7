// The `trainyard` command. grammar/ contains the grammar, commands/ the commands.
#include <csignal>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/context/environment.h"
#include "cli/process/interrupt.h"
#include "proto/support/clock.h"

int main(int argc, char** argv) {
  // If the reader of a pipe closes it (`| head`), this process ends without a message. Set
  // explicitly, because the parent process may ignore SIGPIPE.
  std::signal(SIGPIPE, SIG_DFL);
  // While SIGCHLD is ignored, the exit code of a child cannot be read. A parent process that
  // ignores it passes this on.
  std::signal(SIGCHLD, SIG_DFL);
  const trainyard::SystemClock clock;
  trainyard::cli::Interrupt interrupt;
  trainyard::cli::Environment environment = trainyard::cli::SystemEnvironment(clock, interrupt);
  return trainyard::cli::RunTrainyard(std::vector<std::string>(argv + 1, argv + argc), environment);
}
