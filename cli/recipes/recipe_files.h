// Recipes on disk.
#ifndef TRAINYARD_CLI_RECIPES_RECIPE_FILES_H_
#define TRAINYARD_CLI_RECIPES_RECIPE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/jobspec/reader.h"

namespace trainyard::cli {

// A job file that other job files extend, or that `submit` takes by its name; or the description of
// a run (described_file.h), which `submit` refuses.
struct Recipe {
  std::string name;
  std::string description;
  std::string path;
};

// The recipes (*.yaml) in the directories, by name. A recipe in an earlier directory hides one of
// the same name in a later one, as for `extends` in job files.
std::vector<Recipe> FindRecipes(const std::vector<std::string>& directories);

// The text of a recipe by its name, or of a file by its path. NOT_FOUND names the nearest recipe.
absl::StatusOr<JobFileText> ReadRecipe(const std::string& name,
                                       const std::vector<std::string>& directories);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_RECIPE_FILES_H_
