// The slots used by a sweep of `tune`.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_TUNE_SLOTS_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_TUNE_SLOTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/context/context.h"
#include "controller/planner/cluster.h"
#include "proto/contract/run_config.h"

namespace trainyard::cli {

// The device of a sweep on CPU slots.
inline constexpr char kCpuSlots[] = "cpu";

// The slots that the controller would assign to the job now. INVALID_ARGUMENT for a device with
// unknown rates.
absl::StatusOr<planner::Cluster> SlotsOfJob(const v1::JobSpec& spec, const RunConfig& config,
                                            Context& context);

// Slots of one machine without daemons, with GPUs of this name or kCpuSlots; empty: CPUs, if the
// job asks for them. INVALID_ARGUMENT if the job asks for other slots.
absl::StatusOr<planner::Cluster> NamedSlots(const RunConfig& config, const std::string& device);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_TUNE_SLOTS_H_
