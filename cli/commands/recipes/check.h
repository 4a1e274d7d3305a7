// `trainyard recipe check`: counts the parameters of recipes and reports impossible settings and
// wrong figures.
#ifndef TRAINYARD_CLI_COMMANDS_RECIPES_CHECK_H_
#define TRAINYARD_CLI_COMMANDS_RECIPES_CHECK_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct RecipeCheckOptions {
  std::vector<std::string> names;
  bool all = false;
  bool renew = false;  // True: rewrite the `# Expected on` lines.
};

// Adds the command and its options.
void AddRecipeCheck(CLI::App& noun, Grammar& grammar);

Outcome RunRecipeCheck(const RecipeCheckOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_RECIPES_CHECK_H_
