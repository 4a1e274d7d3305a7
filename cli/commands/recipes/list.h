// `trainyard recipe list`.
#ifndef TRAINYARD_CLI_COMMANDS_RECIPES_LIST_H_
#define TRAINYARD_CLI_COMMANDS_RECIPES_LIST_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Makes `command` list recipes.
void MakeRecipeList(CLI::App& command, Grammar& grammar);

Outcome RunRecipeList(Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_RECIPES_LIST_H_
