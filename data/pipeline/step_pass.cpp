#include "data/pipeline/step_pass.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

bool WritesDocuments(const PipelineStep& step) {
  return std::holds_alternative<FilterOptions>(step.options) ||
         std::holds_alternative<DedupOptions>(step.options);
}

// The last step before `step` that writes documents; null if there is none.
const PipelineStep* SourceOf(const Pipeline& pipeline, const PipelineStep& step) {
  for (size_t i = IndexOf(pipeline, step); i-- > 0;) {
    if (WritesDocuments(pipeline.steps[i])) return &pipeline.steps[i];
  }
  return nullptr;
}

fs::path Canonical(const std::string& path) {
  std::error_code error;
  return fs::canonical(path, error);
}

}  // namespace

size_t IndexOf(const Pipeline& pipeline, const PipelineStep& step) {
  return static_cast<size_t>(&step - pipeline.steps.data());
}

std::string DirectoryOf(const Pipeline& pipeline, const PipelineStep& step) {
  return pipeline.out + "/" + step.name;
}

std::string WorkDirectoryOf(const Pipeline& pipeline, const PipelineStep& step,
                            const std::string& pass) {
  return pipeline.out + "/.work/" + step.name + "-" + pass;
}

absl::StatusOr<std::vector<InputFile>> DocumentsOf(const Pipeline& pipeline,
                                                   const PipelineStep& step) {
  if (const PipelineStep* source = SourceOf(pipeline, step)) {
    return FindInputFiles({DirectoryOf(pipeline, *source)});
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<InputFile> files, FindInputFiles(pipeline.input.inputs));
  if (pipeline.validation.empty()) return files;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> held_out,
                             FindInputFiles(pipeline.validation));
  std::set<fs::path> excluded;
  for (const InputFile& file : held_out) excluded.insert(Canonical(file.path));
  std::erase_if(files,
                [&](const InputFile& file) { return excluded.contains(Canonical(file.path)); });
  if (!files.empty()) return files;
  return absl::InvalidArgumentError(
      "all inputs are also files of `validation`, which are not used for training; add inputs");
}

bool ReadsEarlierStep(const Pipeline& pipeline, const PipelineStep& step) {
  return SourceOf(pipeline, step) != nullptr;
}

std::string TrainedTokenizer(const Pipeline& pipeline) {
  for (const PipelineStep& step : pipeline.steps) {
    if (std::holds_alternative<TrainTokenizerOptions>(step.options)) {
      return DirectoryOf(pipeline, step) + "/tokenizer.json";
    }
  }
  return "";
}

DecodeSettings DecodeOf(const Pipeline& pipeline) {
  DecodeSettings decode;
  decode.field = pipeline.input.field;
  decode.repair_utf8 = pipeline.input.utf8 == "replace";
  return decode;
}

PlanLimits LimitsOf(const Pipeline& pipeline, bool reads_earlier_step) {
  PlanLimits limits;
  limits.block_bytes = pipeline.block_bytes;
  limits.ignores_times = reads_earlier_step;
  return limits;
}

}  // namespace trainyard::data
