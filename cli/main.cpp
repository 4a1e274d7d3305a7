// The `trainyard` command. grammar/ contains the grammar; commands/ contains the commands.
#include <csignal>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/context/environment.h"
#include "cli/process/interrupt.h"
#include "proto/support/clock.h"

int main(int argc, char** argv) {
  // SIGPIPE ends this process without a message when the reader of its output exits (`| head`). Set
  // explicitly, because a process inherits an ignored SIGPIPE from its parent.
  std::signal(SIGPIPE, SIG_DFL);
  // Set explicitly, because a process inherits an ignored SIGCHLD from its parent, and while it is
  // ignored, the exit codes of children cannot be read.
  std::signal(SIGCHLD, SIG_DFL);
  const trainyard::SystemClock clock;
  trainyard::cli::Interrupt interrupt;
  trainyard::cli::Environment environment = trainyard::cli::SystemEnvironment(clock, interrupt);
  return trainyard::cli::RunTrainyard(std::vector<std::string>(argv + 1, argv + argc), environment);
}
