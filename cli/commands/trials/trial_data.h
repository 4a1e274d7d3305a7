// The data of trials: the job's data, or random tokens that replace it.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_DATA_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_DATA_H_

#include <string>

#include "cli/context/context.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Random tokens that replace a job's data. The destructor removes the tokens, unless the user named
// a directory for the tokens.
class TrialData {
 public:
  TrialData() = default;
  ~TrialData();
  TrialData(const TrialData&) = delete;
  TrialData& operator=(const TrialData&) = delete;

  // In two cases, replaces the job's data with random tokens and reports this on console.err:
  // - `random_data` names a directory for the tokens. Every node must see this directory.
  // - The controller is on this machine, and the job's data is not.
  absl::Status Substitute(const std::string& random_data, Context& context, ResolvedSpec& resolved);

  // One line that states the replacement and the reason; empty if nothing was replaced.
  const std::string& note() const { return note_; }

 private:
  std::string temporary_;
  std::string note_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_DATA_H_
