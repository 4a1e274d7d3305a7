// The `trainyard` command. Grammar and verbs are in app.h and commands/.
#include <csignal>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/environment.h"
#include "cli/interrupt.h"
#include "proto/support/clock.h"

int main(int argc, char** argv) {
  // A reader that goes away (`| head`) ends us quietly, even when our parent ignores SIGPIPE.
  std::signal(SIGPIPE, SIG_DFL);
  const trainyard::SystemClock clock;
  trainyard::cli::Interrupt interrupt;
  trainyard::cli::Environment environment = trainyard::cli::SystemEnvironment(clock, interrupt);
  return trainyard::cli::RunTrainyard(std::vector<std::string>(argv + 1, argv + argc), environment);
}
