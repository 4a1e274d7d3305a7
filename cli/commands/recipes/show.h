// `trainyard recipe show`.
#ifndef TRAINYARD_CLI_COMMANDS_RECIPES_SHOW_H_
#define TRAINYARD_CLI_COMMANDS_RECIPES_SHOW_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddRecipeShow(CLI::App& noun, Grammar& grammar);

Outcome RunRecipeShow(const std::string& name, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_RECIPES_SHOW_H_
