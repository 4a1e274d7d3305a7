// Recipes on disk.
#ifndef TRAINYARD_PROTO_JOBSPEC_RECIPE_FILES_H_
#define TRAINYARD_PROTO_JOBSPEC_RECIPE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/jobspec/reader.h"

namespace trainyard {

// A job file that other job files can extend by name and that `submit` accepts by name.
struct Recipe {
  std::string name;
  std::string description;
  std::string path;
};

// Returns the recipes (*.yaml) in the directories, sorted by name. If two directories contain
// recipes with the same name, the one in the earlier directory is used, as for `extends` in job
// files.
std::vector<Recipe> FindRecipes(const std::vector<std::string>& directories);

// Returns the text of a recipe, given by name, or of a file, given by path. NOT_FOUND names the
// most similar recipe.
absl::StatusOr<JobFileText> ReadRecipe(const std::string& name,
                                       const std::vector<std::string>& directories);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RECIPE_FILES_H_
