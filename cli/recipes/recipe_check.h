// The check of one recipe, job file or description of a run.
#ifndef TRAINYARD_CLI_RECIPES_RECIPE_CHECK_H_
#define TRAINYARD_CLI_RECIPES_RECIPE_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "controller/planner/run_review.h"
#include "proto/jobspec/reader.h"

namespace trainyard::cli {

struct RecipeReport {
  std::string name;
  std::string kind;  // "dense", or what a description describes.
  std::optional<planner::ParameterSum> parameters;
  double tokens = 0;  // Of the whole run; 0 where it is not said.
  std::vector<planner::Finding> findings;
  // The text of the file with its `# Expected on` lines as they should be.
  std::string renewed;
};

// Job files are resolved with `reader`; what their user must give (data.path) may be missing.
// Never fails: a file that cannot be read has a finding that says so.
RecipeReport CheckRecipe(const JobFileText& file, const JobFileReader& reader);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_RECIPE_CHECK_H_
