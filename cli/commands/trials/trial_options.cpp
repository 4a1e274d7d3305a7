#include "cli/commands/trials/trial_options.h"

namespace trainyard::cli {

void AddTrialOptions(CLI::App& command, int64_t& steps, std::string& random_data,
                     std::string& calibration) {
  command.add_option("--steps", steps, "steps per run (default: 10)")->check(CLI::Range(5, 100000));
  command
      .add_option("--random-data", random_data,
                  "train on random tokens, which are written to this directory; all nodes must "
                  "share the directory")
      ->type_name("DIR");
  command
      .add_option("--calibration", calibration,
                  "calibration file from `trainyard tune --calibrate`, to correct predictions")
      ->type_name("FILE");
}

}  // namespace trainyard::cli
