// `trainyard tune`: measures settings in short jobs. For a machine without daemons, `tune`
// exchanges runs and measurements through files.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_TUNE_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_TUNE_H_

#include <cstdint>
#include <string>

#include "cli/grammar/grammar.h"
#include "cli/grammar/job_file_options.h"

namespace trainyard::cli {

struct TuneOptions {
  JobFileOptions job;
  int64_t steps = 10;  // The number of steps of each run.
  int64_t runs = 8;    // The maximum number of runs, not counting runs with other attention.
  std::string random_data;
  std::string calibration;
  std::string write;      // Overlay file to write; empty: none.
  std::string calibrate;  // Calibration file to write; empty for none.
  // For machines without daemons. `sweep`: the file to write, which lists runs for slots of
  // `device`. `measured`: the file to read, a sweep file with the measurements added.
  std::string sweep;
  std::string device;
  std::string measured;
};

// Adds the command and its options.
void AddTune(CLI::App& parent, Grammar& grammar);

Outcome RunTune(const TuneOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_TUNE_H_
