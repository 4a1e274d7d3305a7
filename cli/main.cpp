// The `trainyard` command. grammar/ contains the grammar; commands/ contains the commands.
#include <csignal>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/context/environment.h"
#include "cli/process/interrupt.h"
#include "proto/support/clock.h"

int main(int argc, char** argv) {
  // SIGPIPE must end this process without a message when the reader of its output exits (`| head`).
  // The parent may have passed on an ignored SIGPIPE.
  std::signal(SIGPIPE, SIG_DFL);
  // SIGCHLD must not be ignored, because exit codes of children could then not be read. The parent
  // may have passed on an ignored SIGCHLD.
  std::signal(SIGCHLD, SIG_DFL);
  const trainyard::SystemClock clock;
  trainyard::cli::Interrupt interrupt;
  trainyard::cli::Environment environment = trainyard::cli::SystemEnvironment(clock, interrupt);
  return trainyard::cli::RunTrainyard(std::vector<std::string>(argv + 1, argv + argc), environment);
}
