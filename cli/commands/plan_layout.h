// `plan --device`: the best layout of a job on a cluster that need not exist.
#ifndef TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_
#define TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_

#include "cli/commands/commands.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Asks no controller. kFailed where no layout fits, after an error that says what is missing.
// INVALID_ARGUMENT for an unknown device or network, and for what the device cannot do.
Outcome RunPlanLayout(const PlanOptions& options, const ResolvedSpec& resolved, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_PLAN_LAYOUT_H_
