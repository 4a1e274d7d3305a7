// `trainyard extrapolate`: predicts, from a run's progress, the loss, days and cost of the run with
// more tokens.
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
