// Data of trials: the job's own, or random tokens in its place.
#ifndef TRAINYARD_CLI_COMMANDS_TRIAL_DATA_H_
#define TRAINYARD_CLI_COMMANDS_TRIAL_DATA_H_

#include <string>

#include "cli/commands/commands.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Random tokens in the place of a job's data; removed with this object where nobody asked to keep
// them.
class TrialData {
 public:
  TrialData() = default;
  ~TrialData();
  TrialData(const TrialData&) = delete;
  TrialData& operator=(const TrialData&) = delete;

  // Substitutes the data of the job where `random_data` names a directory for random tokens, which
  // every node must see, or where the controller is on this machine and the job's data is not.
  // Says on console.err what was substituted.
  absl::Status Substitute(const std::string& random_data, Context& context, ResolvedSpec& resolved);

  // Substitute and reason, as one line; empty when nothing was substituted.
  const std::string& note() const { return note_; }

 private:
  std::string temporary_;
  std::string note_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_TRIAL_DATA_H_
