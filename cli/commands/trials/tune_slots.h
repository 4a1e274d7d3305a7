// The slots that a sweep of `tune` uses.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_TUNE_SLOTS_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_TUNE_SLOTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/context/context.h"
#include "controller/planner/cluster.h"
#include "proto/contract/run_config.h"

namespace trainyard::cli {

// The device name of a sweep on CPU slots.
inline constexpr char kCpuSlots[] = "cpu";

// Returns the slots that the controller would assign to the job now. Returns INVALID_ARGUMENT if
// the performance data of the slots' device is unknown.
absl::StatusOr<planner::Cluster> SlotsOfJob(const v1::JobSpec& spec, const RunConfig& config,
                                            Context& context);

// Returns the slots of one machine without daemons. `device` is kCpuSlots or the name of the GPUs.
// If `device` is empty and the job requests CPUs, kCpuSlots is used. Returns INVALID_ARGUMENT if
// the job requests slots of another kind.
absl::StatusOr<planner::Cluster> NamedSlots(const RunConfig& config, const std::string& device);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_TUNE_SLOTS_H_
