// Data of trials: the job's own, or random tokens instead.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_DATA_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_DATA_H_

#include <string>

#include "cli/context/context.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Random tokens that replace a job's data. Removed with this object unless the user named a
// directory.
class TrialData {
 public:
  TrialData() = default;
  ~TrialData();
  TrialData(const TrialData&) = delete;
  TrialData& operator=(const TrialData&) = delete;

  // Replaces the data of the job if `random_data` names a directory for random tokens, which every
  // node must see, or if the controller is on this machine and the job's data is not. Reports a
  // replacement on console.err.
  absl::Status Substitute(const std::string& random_data, Context& context, ResolvedSpec& resolved);

  // The replacement and its reason, in one line; empty if nothing was replaced.
  const std::string& note() const { return note_; }

 private:
  std::string temporary_;
  std::string note_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_DATA_H_
