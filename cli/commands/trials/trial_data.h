// Data of trials: the data of the job, or random tokens in place of it.
#ifndef TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_DATA_H_
#define TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_DATA_H_

#include <string>

#include "cli/context/context.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Random tokens that are used in place of a job's data. The destructor removes them, unless the
// user named a directory for them.
class TrialData {
 public:
  TrialData() = default;
  ~TrialData();
  TrialData(const TrialData&) = delete;
  TrialData& operator=(const TrialData&) = delete;

  // Replaces the job's data by random tokens in either of two cases: `random_data` names a
  // directory for them, which every node must see, or the controller is on this machine and the
  // job's data is not. Reports the replacement on console.err.
  absl::Status Substitute(const std::string& random_data, Context& context, ResolvedSpec& resolved);

  // The replacement and the reason for it, in one line; empty if nothing was replaced.
  const std::string& note() const { return note_; }

 private:
  std::string temporary_;
  std::string note_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIALS_TRIAL_DATA_H_
