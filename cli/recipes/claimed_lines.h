// Parses the lines of a recipe that state the figures claimed by the recipe's source:
//   # Claimed parameters: 46.7B
//   # Claimed mfu: 0.35 to 0.40
#ifndef TRAINYARD_CLI_RECIPES_CLAIMED_LINES_H_
#define TRAINYARD_CLI_RECIPES_CLAIMED_LINES_H_

#include <string>
#include <vector>

#include "controller/planner/claims.h"
#include "proto/jobspec/fields/reader.h"

namespace trainyard::cli {

struct ClaimedLines {
  planner::Claims claims;
  int64_t count = 0;                // Number of lines that begin with "# Claimed ".
  std::vector<std::string> errors;  // One error, with its line number, per unreadable line.
};

ClaimedLines FindClaimedLines(const JobFileText& file);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_RECIPES_CLAIMED_LINES_H_
