// `trainyard extrapolate`: predicts the loss, the remaining days and the remaining cost if a run
// continues to a larger number of tokens. The prediction is based on the run's progress.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_EXTRAPOLATE_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_EXTRAPOLATE_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct ExtrapolateOptions {
  std::string job;
  std::string tokens;  // As typed, such as 85B.
};

// Adds the command and its options.
void AddExtrapolate(CLI::App& parent, Grammar& grammar);

Outcome RunExtrapolate(const ExtrapolateOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_EXTRAPOLATE_H_
