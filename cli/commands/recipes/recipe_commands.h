// The noun `recipe` and its commands.
#ifndef TRAINYARD_CLI_COMMANDS_RECIPES_RECIPE_COMMANDS_H_
#define TRAINYARD_CLI_COMMANDS_RECIPES_RECIPE_COMMANDS_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

void AddRecipeCommands(CLI::App& app, Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_RECIPES_RECIPE_COMMANDS_H_
