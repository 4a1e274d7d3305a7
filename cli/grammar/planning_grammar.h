// Grammar of the commands for hypothetical runs: plan, recipe, scale, cost, convert.
#ifndef TRAINYARD_CLI_GRAMMAR_PLANNING_GRAMMAR_H_
#define TRAINYARD_CLI_GRAMMAR_PLANNING_GRAMMAR_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds a job file with its overrides; returns the option of the file.
CLI::Option* AddJobFileOptions(CLI::App& command, JobFileOptions& options);

// Adds `plan` to the top level, or to the noun `job`.
void AddPlan(CLI::App& parent, Grammar& grammar);

// Adds all except plan.
void AddPlanningCommands(CLI::App& app, Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_PLANNING_GRAMMAR_H_
