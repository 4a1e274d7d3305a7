// `trainyard cost`: estimates the FLOPs, days, GPU-hours, failures and dollars of a run.
#ifndef TRAINYARD_CLI_COMMANDS_PLANNING_COST_H_
#define TRAINYARD_CLI_COMMANDS_PLANNING_COST_H_

#include <string>

#include "cli/grammar/cluster_options.h"
#include "cli/grammar/grammar.h"
#include "cli/grammar/job_file_options.h"
#include "controller/planner/run_cost.h"

namespace trainyard::cli {

struct CostOptions {
  JobFileOptions job;  // If no file is named, parameters and tokens must be set.
  std::string parameters;
  std::string tokens;
  ClusterOptions cluster;
  std::string layout;  // "best" or "written"; empty: written if it can run, else best.
  double mfu = 0.45;
  double price = 0;  // Dollars per GPU-hour; 0: use the prices of known clouds.
  double gpu_hours_per_failure = planner::kGpuHoursPerFailure;
  double checkpoint_seconds = planner::Interruptions().checkpoint_seconds;
  double restart_seconds = planner::Interruptions().restart_seconds;
  double checkpoint_interval = 0;  // In seconds; 0: the optimal interval.
  std::string svg;                 // File for a figure; empty: none.
};

// Adds the command and its options.
void AddCost(CLI::App& parent, Grammar& grammar);

Outcome RunCost(const CostOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLANNING_COST_H_
