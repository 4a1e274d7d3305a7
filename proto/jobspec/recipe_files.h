// Recipes on disk.
#ifndef TRAINYARD_PROTO_JOBSPEC_RECIPE_FILES_H_
#define TRAINYARD_PROTO_JOBSPEC_RECIPE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/jobspec/fields/reader.h"

namespace trainyard {

// A job file that other job files can extend by name. `submit` also accepts this name.
struct Recipe {
  std::string name;
  std::string description;
  std::string path;
};

// Returns the recipes (*.yaml) in `directories`, sorted by name. If a name occurs in two
// directories, the earlier directory takes precedence, as it does for `extends` in job files.
std::vector<Recipe> FindRecipes(const std::vector<std::string>& directories);

// Returns the text of the recipe with this name, or of the file at this path. NOT_FOUND: the
// message names the most similar recipe.
absl::StatusOr<JobFileText> ReadRecipe(const std::string& name,
                                       const std::vector<std::string>& directories);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RECIPE_FILES_H_
