// The `trainyard` command. The grammar is in grammar/, the commands in commands/.
#include <csignal>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/context/environment.h"
#include "cli/process/interrupt.h"
#include "proto/support/clock.h"

int main(int argc, char** argv) {
  // A reader that closes the pipe (`| head`) ends this process without a message, even if the
  // parent process ignores SIGPIPE.
  std::signal(SIGPIPE, SIG_DFL);
  // An ignored SIGCHLD, possibly inherited from the parent process, would prevent reading a child's
  // exit code.
  std::signal(SIGCHLD, SIG_DFL);
  const trainyard::SystemClock clock;
  trainyard::cli::Interrupt interrupt;
  trainyard::cli::Environment environment = trainyard::cli::SystemEnvironment(clock, interrupt);
  return trainyard::cli::RunTrainyard(std::vector<std::string>(argv + 1, argv + argc), environment);
}
