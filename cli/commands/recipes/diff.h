// `trainyard recipe diff`: the settings that differ between two recipes.
#ifndef TRAINYARD_CLI_COMMANDS_RECIPES_DIFF_H_
#define TRAINYARD_CLI_COMMANDS_RECIPES_DIFF_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct RecipeDiffOptions {
  std::string a;
  std::string b;
};

// Adds the command and its options.
void AddRecipeDiff(CLI::App& noun, Grammar& grammar);

Outcome RunRecipeDiff(const RecipeDiffOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_RECIPES_DIFF_H_
