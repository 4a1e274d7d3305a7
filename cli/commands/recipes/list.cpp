#include "cli/commands/recipes/list.h"

#include "cli/output/terminal/readable.h"
#include "proto/jobspec/recipe_files.h"

namespace trainyard::cli {

void MakeRecipeList(CLI::App& command, Grammar& grammar) {
  grammar.runners[&command] = [](Context& context) { return RunRecipeList(context); };
}

Outcome RunRecipeList(Context& context) {
  Listing listing;
  listing.columns = {{"RECIPE"}, {"DESCRIPTION", false, false, true}, {"FILE", false, true}};
  for (const Recipe& recipe : FindRecipes(context.recipe_directories)) {
    listing.rows.push_back(
        {{recipe.name, OneLine(recipe.description), recipe.path},
         recipe.name,
         {{"name", recipe.name}, {"description", recipe.description}, {"file", recipe.path}}});
  }
  PrintListing(listing, context.format, context.console);
  if (listing.rows.empty()) {
    PrintNote(context.console, "no recipes found; set a folder of recipes with --recipes DIR");
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
