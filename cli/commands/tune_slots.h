// The slots that a sweep of `tune` runs on.
#ifndef TRAINYARD_CLI_COMMANDS_TUNE_SLOTS_H_
#define TRAINYARD_CLI_COMMANDS_TUNE_SLOTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/commands/commands.h"
#include "controller/planner/cluster.h"
#include "proto/contract/run_config.h"

namespace trainyard::cli {

// The device of a sweep on slots of CPUs.
inline constexpr char kCpuSlots[] = "cpu";

// Those that the controller would give the job now. INVALID_ARGUMENT for GPUs whose rates are not
// known.
absl::StatusOr<planner::Cluster> SlotsOfJob(const v1::JobSpec& spec, const RunConfig& config,
                                            Context& context);

// Those of one machine without daemons, with GPUs of this name or kCpuSlots; empty: the CPUs of a
// job that asks for these. INVALID_ARGUMENT where the job asks for others.
absl::StatusOr<planner::Cluster> NamedSlots(const RunConfig& config, const std::string& device);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TUNE_SLOTS_H_
