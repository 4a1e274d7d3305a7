// Recipes on disk.
#ifndef TRAINYARD_PROTO_JOBSPEC_RECIPE_FILES_H_
#define TRAINYARD_PROTO_JOBSPEC_RECIPE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/jobspec/reader.h"

namespace trainyard {

// A job file that other job files extend or that `submit` accepts by name.
struct Recipe {
  std::string name;
  std::string description;
  std::string path;
};

// The recipes (*.yaml) in the directories, sorted by name. A recipe in an earlier directory hides
// one with the same name in a later one, as for `extends` in job files.
std::vector<Recipe> FindRecipes(const std::vector<std::string>& directories);

// The text of a recipe, by name, or of a file, by path. NOT_FOUND names the nearest recipe.
absl::StatusOr<JobFileText> ReadRecipe(const std::string& name,
                                       const std::vector<std::string>& directories);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RECIPE_FILES_H_
