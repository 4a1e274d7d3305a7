#include "data/report/chain.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "data/report/dataset_step.h"
#include "data/report/mix_step.h"
#include "data/report/run_step.h"
#include "data/stages/read_run.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::StatusOr<StepReport> ReadStep(const std::string& directory) {
  if (IsRunDirectory(directory)) return ReadRunStep(directory);
  if (IsMixDirectory(directory)) return ReadMixStep(directory);
  absl::StatusOr<StepReport> step = ReadDatasetStep(directory);
  if (!absl::IsNotFound(step.status())) return step;
  return absl::NotFoundError(directory +
                             ": contains neither token files of `trainyard data prepare` nor the "
                             "output of another data command; check the path");
}

std::string Canonical(const std::string& directory) {
  std::error_code error;
  return std::filesystem::weakly_canonical(directory, error).string();
}

// Adds steps depth first, so that inputs come before their users.
class ChainReader {
 public:
  // Returns the index of the step.
  absl::StatusOr<size_t> Add(const std::string& directory) {
    const std::string key = Canonical(directory);
    if (const auto found = indices_.find(key); found != indices_.end()) return found->second;
    ++begun_;
    TRAINYARD_ASSIGN_OR_RETURN(StepReport step, ReadStep(directory));
    for (StepInput& input : step.inputs) AddInput(&input, &step);
    report_.steps.push_back(std::move(step));
    return indices_[key] = report_.steps.size() - 1;
  }

  ChainReport Take() { return std::move(report_); }

 private:
  void AddInput(StepInput* input, StepReport* step) {
    const bool is_data_set = input->use == "blend";
    // References are compared with documents, but do not become part of the data set.
    if ((input->plan.empty() && !is_data_set) || input->use == "against") return;
    // The limit also ends cycles, which only changed directories can form.
    if (begun_ == ChainReport::kStepsMax) {
      report_.omits_steps = true;
      return;
    }
    const absl::StatusOr<size_t> index = Add(input->directory);
    if (!index.ok()) {
      step->problems.push_back("the step that wrote an input cannot be read: " +
                               std::string(index.status().message()));
      return;
    }
    input->step = *index;
    // ReadMixStep compares data sets.
    if (is_data_set || report_.steps[*index].plan == input->plan) return;
    step->problems.push_back(input->directory + " was written by another run (plan " + input->plan +
                             ") when " + step->directory +
                             " was made; repeat the later commands to use the new contents");
  }

  ChainReport report_;
  std::map<std::string, size_t> indices_;  // by canonical path
  size_t begun_ = 0;
};

}  // namespace

absl::StatusOr<ChainReport> ReadChain(const std::string& directory) {
  ChainReader reader;
  TRAINYARD_RETURN_IF_ERROR(reader.Add(directory).status());
  return reader.Take();
}

}  // namespace trainyard::data
