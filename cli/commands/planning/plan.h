// `trainyard plan`: shows every setting of a job with its origin, and the job's placement. With
// --device, shows the job's best layout on a hypothetical cluster.
#ifndef TRAINYARD_CLI_COMMANDS_PLANNING_PLAN_H_
#define TRAINYARD_CLI_COMMANDS_PLANNING_PLAN_H_

#include <string>

#include "cli/grammar/cluster_options.h"
#include "cli/grammar/grammar.h"
#include "cli/grammar/job_file_options.h"

namespace trainyard::cli {

struct PlanOptions {
  JobFileOptions job;
  bool offline = false;
  // The cluster for which to find a layout; unused if no device is named.
  ClusterOptions cluster;
  std::string layout = "best";  // Layout to plan: best or written.
  std::string svg;              // File for a figure of the step; empty: none.
};

// Adds the command and its options.
void AddPlan(CLI::App& parent, Grammar& grammar);

Outcome RunPlan(const PlanOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLANNING_PLAN_H_
