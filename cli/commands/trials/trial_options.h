// The options that `smoke` and `tune` share.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_OPTIONS_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_OPTIONS_H_

#include <cstdint>
#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds --steps, --random-data and --calibration.
void AddTrialOptions(CLI::App& command, int64_t& steps, std::string& random_data,
                     std::string& calibration);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_OPTIONS_H_
