// `trainyard smoke`: runs a few steps of a job on real slots and checks the results.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_SMOKE_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_SMOKE_H_

#include <cstdint>
#include <string>

#include "cli/grammar/grammar.h"
#include "cli/grammar/job_file_options.h"

namespace trainyard::cli {

struct SmokeOptions {
  JobFileOptions job;
  int64_t steps = 10;
  std::string random_data;  // Directory for random tokens that replace the job's data.
  std::string calibration;  // Calibration file; empty: none.
};

// Adds the command and its options.
void AddSmoke(CLI::App& parent, Grammar& grammar);

Outcome RunSmoke(const SmokeOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_SMOKE_H_
