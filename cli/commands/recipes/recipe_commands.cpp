#include "cli/commands/recipes/recipe_commands.h"

#include "cli/commands/recipes/check.h"
#include "cli/commands/recipes/diff.h"
#include "cli/commands/recipes/list.h"
#include "cli/commands/recipes/new.h"
#include "cli/commands/recipes/show.h"

namespace trainyard::cli {

void AddRecipeCommands(CLI::App& app, Grammar& grammar) {
  CLI::App* noun = app.add_subcommand("recipe", "Recipes: list, show, check, diff, new");
  noun->alias("recipes");
  noun->require_subcommand(0, 1);
  MakeRecipeList(*noun, grammar);
  MakeRecipeList(*noun->add_subcommand("list", "List recipes"), grammar);
  AddRecipeShow(*noun, grammar);
  AddRecipeDiff(*noun, grammar);
  AddRecipeCheck(*noun, grammar);
  AddRecipeNew(*noun, grammar);
}

}  // namespace trainyard::cli
