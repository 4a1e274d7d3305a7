// Checks one recipe, job file or run description.
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
  std::string kind;  // "dense", or the kind of the description.
  std::optional<planner::ParameterSum> parameters;
  double tokens = 0;  // Of the whole run; 0 if not stated.
  std::vector<planner::Finding> findings;
  // The text of the file with corrected `# Expected on` lines.
  std::string renewed;
};

// Job files are resolved with `reader`; user-specific settings (data.path) may be missing. Never
// fails: an unreadable file results in a finding.
RecipeReport CheckRecipe(const JobFileText& file, const JobFileReader& reader);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_RECIPE_CHECK_H_
