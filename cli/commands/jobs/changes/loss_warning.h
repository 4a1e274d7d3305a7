// Describes the steps that a job loses if its ranks are ended now.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_LOSS_WARNING_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_LOSS_WARNING_H_

#include <string>
#include <vector>

#include "cli/context/context.h"
#include "proto/support/clock.h"
#include "trainyard/v1/health.pb.h"

namespace trainyard::cli {

enum class EndingAction { kStop, kKill, kPause };

// Returns one sentence, such as "checkpoints have failed since step 80: stopping now loses 3338
// steps (28m10s of work)". Empty if no loss is expected. A stop and a pause save a checkpoint,
// unless saving fails or the gang is stalled.
std::string LostStepsText(EndingAction action, const v1::JobHealth& health, Timestamp now);

// Asks the controller about each job, and returns a line for each job that loses steps. A job that
// cannot be read has no line; the action itself reports the reason. UNAVAILABLE: the controller is
// unreachable.
absl::StatusOr<std::vector<std::string>> LossWarnings(EndingAction action,
                                                      const std::vector<std::string>& jobs,
                                                      Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_CHANGES_LOSS_WARNING_H_
