#include "data/pipeline/make_pass.h"

#include <algorithm>

#include "data/pipeline/passes.h"

namespace trainyard::data {
namespace {

StepPassOr MakeStepPass(const Pipeline& pipeline, const PipelineStep& step,
                        const std::string& pass) {
  if (std::holds_alternative<FilterOptions>(step.options)) return MakeFilterPass(pipeline, step);
  if (std::holds_alternative<DedupOptions>(step.options)) {
    return MakeDedupPass(pipeline, step, pass);
  }
  if (std::holds_alternative<DecontaminateOptions>(step.options)) {
    return MakeDecontaminatePass(pipeline, step);
  }
  if (std::holds_alternative<TrainTokenizerOptions>(step.options)) {
    return MakeWordPass(pipeline, step);
  }
  if (std::holds_alternative<CountOptions>(step.options)) return MakeCountPass(pipeline, step);
  if (std::holds_alternative<MixStep>(step.options)) {
    return absl::InternalError("the step " + step.name + " has no passes");
  }
  return MakeTokenPass(pipeline, step, pass == kValidationPass);
}

}  // namespace

absl::StatusOr<std::unique_ptr<StepPass>> MakeNamedPass(const Pipeline& pipeline,
                                                        const std::string& name) {
  const size_t colon = std::min(name.find(':'), name.size());
  for (const PipelineStep& step : pipeline.steps) {
    if (step.name != name.substr(0, colon) || colon == name.size()) continue;
    return MakeStepPass(pipeline, step, name.substr(colon + 1));
  }
  return absl::InvalidArgumentError("rank 0 runs the pass " + name +
                                    ", which is not in this pipeline; start all processes with the "
                                    "same version and file");
}

}  // namespace trainyard::data
