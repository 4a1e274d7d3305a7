#include "data/pipeline/step_pass.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

fs::path Canonical(const std::string& path) {
  std::error_code error;
  return fs::canonical(path, error);
}

void Append(const std::vector<std::string>& paths, std::vector<std::string>* all) {
  all->insert(all->end(), paths.begin(), paths.end());
}

// The files and directories for validation of all steps.
std::vector<std::string> AllValidation(const Pipeline& pipeline) {
  std::vector<std::string> paths = pipeline.validation;
  for (const PipelineStep& step : pipeline.steps) {
    const auto* tokenize = std::get_if<TokenizeStep>(&step.options);
    if (tokenize != nullptr) Append(tokenize->val, &paths);
  }
  return paths;
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
  if (ReadsEarlierStep(step)) {
    std::vector<std::string> directories;
    for (const size_t source : step.sources) {
      directories.push_back(DirectoryOf(pipeline, pipeline.steps[source]));
    }
    return FindInputFiles(directories);
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<InputFile> files, FindInputFiles(step.inputs));
  const std::vector<std::string> validation = AllValidation(pipeline);
  if (validation.empty()) return files;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> held_out, FindInputFiles(validation));
  std::set<fs::path> excluded;
  for (const InputFile& file : held_out) excluded.insert(Canonical(file.path));
  std::erase_if(files,
                [&](const InputFile& file) { return excluded.contains(Canonical(file.path)); });
  if (!files.empty()) return files;
  return absl::InvalidArgumentError(
      "all inputs of the step " + step.name +
      " are also files of `validation`, which are not used for training; add inputs");
}

bool ReadsEarlierStep(const PipelineStep& step) { return !step.sources.empty(); }

bool IsOutput(const Pipeline& pipeline, const std::string& path) {
  return path.starts_with(pipeline.out + "/");
}

const std::vector<std::string>& ValidationOf(const Pipeline& pipeline,
                                             const TokenizeStep& options) {
  return options.val.empty() ? pipeline.validation : options.val;
}

std::vector<std::string> PathsOf(const Pipeline& pipeline) {
  std::vector<std::string> paths = AllValidation(pipeline);
  Append(pipeline.input.inputs, &paths);
  for (const PipelineStep& step : pipeline.steps) {
    Append(step.inputs, &paths);
    const auto* decontaminate = std::get_if<DecontaminateOptions>(&step.options);
    if (decontaminate != nullptr) Append(decontaminate->against, &paths);
    const auto* dedup = std::get_if<DedupOptions>(&step.options);
    if (dedup == nullptr || dedup->against.empty()) continue;
    if (!IsOutput(pipeline, dedup->against.front())) Append(dedup->against, &paths);
  }
  return paths;
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

BadLinePolicy BadLinesOf(const Pipeline& pipeline) {
  return {pipeline.input.bad == "stop", pipeline.input.bad_fraction};
}

PlanLimits LimitsOf(const Pipeline& pipeline, bool reads_earlier_step) {
  PlanLimits limits;
  limits.block_bytes = pipeline.block_bytes;
  limits.ignores_times = reads_earlier_step;
  return limits;
}

int64_t ThreadMemoryOf(const Pipeline& pipeline, const StepPass& made) {
  return (pipeline.memory_mib << 20) - made.prepared_bytes();
}

nlohmann::ordered_json StoredDetails(const std::string& out, const std::string& stage) {
  using Json = nlohmann::ordered_json;
  std::ifstream file(out + "/report.json", std::ios::binary);
  const Json report = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  return report.is_object() ? report.value(stage, Json()) : Json();
}

}  // namespace trainyard::data
