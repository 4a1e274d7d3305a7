#include "proto/jobspec/rules/resume_check.h"

#include <string>

#include "proto/jobspec/fields/run_config_of.h"

namespace trainyard {

CheckpointFit CheckResumeFrom(const v1::JobSpec& spec) {
  const std::string& directory = spec.checkpoint().resume_from();
  if (directory.empty() || !RunsOurTrainer(spec)) return {};
  CheckpointFit fit = CheckCheckpointModel(directory, RunConfigOf(spec).model);
  if (!fit.unchecked.empty()) {
    fit.unchecked = "checkpoint.resume_from was not checked against the model: " + fit.unchecked;
  }
  return fit;
}

}  // namespace trainyard
