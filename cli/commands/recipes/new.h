// `trainyard recipe new`: adapts a recipe to other hardware, by rules that engineers usually apply
// by hand.
#ifndef TRAINYARD_CLI_COMMANDS_RECIPES_NEW_H_
#define TRAINYARD_CLI_COMMANDS_RECIPES_NEW_H_

#include <cstdint>
#include <string>

#include "cli/grammar/cluster_options.h"
#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct RecipeNewOptions {
  std::string like;  // A recipe, or a parameter count such as 3B.
  ClusterOptions cluster;
  int64_t global_batch = 0;  // 0: in proportion to the number of devices.
  std::string rate_rule = "sqrt";
  std::string name;
};

// Adds the command and its options.
void AddRecipeNew(CLI::App& noun, Grammar& grammar);

Outcome RunRecipeNew(const RecipeNewOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_RECIPES_NEW_H_
