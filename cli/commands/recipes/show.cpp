#include "cli/commands/recipes/show.h"

#include <memory>
#include <ostream>

#include "proto/jobspec/recipe_files.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddRecipeShow(CLI::App& noun, Grammar& grammar) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = noun.add_subcommand("show", "Print a recipe");
  command->add_option("name", *name, "name of the recipe")->required();
  grammar.runners[command] = [name](Context& context) { return RunRecipeShow(*name, context); };
}

// Prints the file unchanged, with its comments, in every output format.
Outcome RunRecipeShow(const std::string& name, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const JobFileText file, ReadRecipe(name, context.recipe_directories));
  *context.console.out << file.text;
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
