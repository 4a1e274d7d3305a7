// Grammar of the commands for short runs on real slots and for conclusions from a run: smoke, tune,
// extrapolate.
#ifndef TRAINYARD_CLI_GRAMMAR_TRIAL_GRAMMAR_H_
#define TRAINYARD_CLI_GRAMMAR_TRIAL_GRAMMAR_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

void AddTrialCommands(CLI::App& app, Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_TRIAL_GRAMMAR_H_
