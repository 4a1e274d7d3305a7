// `trainyard extrapolate`: predicts the loss, days and cost of a run with more tokens from the
// progress of the run so far.
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
