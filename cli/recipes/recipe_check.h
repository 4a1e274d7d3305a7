// Checks one recipe or job file.
#ifndef TRAINYARD_CLI_RECIPES_RECIPE_CHECK_H_
#define TRAINYARD_CLI_RECIPES_RECIPE_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "controller/planner/finding.h"
#include "proto/jobspec/fields/reader.h"

namespace trainyard::cli {

struct RecipeReport {
  std::string name;
  std::string kind;        // "dense", "a command", or the features the trainer lacks.
  int64_t parameters = 0;  // 0 if unknown.
  int64_t active_parameters = 0;
  double tokens = 0;  // Tokens of the whole run; 0 if unknown.
  std::vector<planner::Finding> findings;
  // The text of the file with corrected `# Expected on` lines.
  std::string renewed;
};

// Checks a file. `reader` reads the files that this file extends. Settings that depend on the user
// (data.path) may be missing. Never fails: an unreadable file becomes a finding.
RecipeReport CheckRecipe(const JobFileText& file, const JobFileReader& reader);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_RECIPE_CHECK_H_
