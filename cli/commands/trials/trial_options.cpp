#include "cli/commands/trials/trial_options.h"

namespace trainyard::cli {

void AddTrialOptions(CLI::App& command, int64_t& steps, std::string& random_data,
                     std::string& calibration) {
  command.add_option("--steps", steps, "steps of a run (10)")->check(CLI::Range(5, 100000));
  command
      .add_option("--random-data", random_data,
                  "train on random tokens, written into this directory, which every node must see")
      ->type_name("DIR");
  command
      .add_option("--calibration", calibration,
                  "file of `trainyard tune --calibrate`, by which predictions are corrected")
      ->type_name("FILE");
}

}  // namespace trainyard::cli
