#include "data/prepare/views/mix.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "data/prepare/views/mix_file.h"
#include "data/tokens/output_directory.h"
#include "data/tokens/output_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

// Above about four epochs, repeated tokens improve a model less than new ones (arXiv 2305.16264).
constexpr double kPassesMax = 4;

double ShareOf(const BlendStage& stage, size_t source) {
  const int64_t sum = std::accumulate(stage.shares.begin(), stage.shares.end(), int64_t{0});
  return static_cast<double>(stage.shares[source]) / static_cast<double>(sum);
}

// Returns the number of tokens before the stage, at most `tokens`.
double TokensBefore(const BlendStage& stage, const MixOptions& options) {
  const double before =
      static_cast<double>(stage.first_step - 1) * static_cast<double>(options.step_tokens);
  return std::min(before, static_cast<double>(options.tokens));
}

std::vector<MixUse> UsesOf(const MixResult& result, const MixOptions& options) {
  std::vector<MixUse> uses(result.sources.size());
  for (size_t i = 0; i < result.stages.size(); ++i) {
    const double end = i + 1 < result.stages.size() ? TokensBefore(result.stages[i + 1], options)
                                                    : static_cast<double>(options.tokens);
    const double tokens = end - TokensBefore(result.stages[i], options);
    for (size_t source = 0; source < uses.size(); ++source) {
      uses[source].tokens += tokens * ShareOf(result.stages[i], source);
    }
  }
  for (size_t source = 0; source < uses.size(); ++source) {
    uses[source].passes =
        uses[source].tokens / static_cast<double>(result.sources[source].train.tokens);
  }
  return uses;
}

std::vector<std::string> WarningsOf(const MixResult& result, const MixOptions& options) {
  std::vector<std::string> warnings;
  for (size_t i = 0; i < result.uses.size(); ++i) {
    if (result.uses[i].passes <= kPassesMax) continue;
    warnings.push_back(absl::StrFormat(
        "%s is read %.2f times; above %g times, its tokens improve the model less than new ones; "
        "lower its weight, or add data",
        result.sources[i].path, result.uses[i].passes, kPassesMax));
  }
  for (const BlendStage& stage : result.stages) {
    if (options.tokens == 0 || stage.first_step == 1) continue;
    if (TokensBefore(stage, options) < static_cast<double>(options.tokens)) continue;
    warnings.push_back(absl::StrCat("the weights of step ", stage.first_step,
                                    " are not used, because the tokens end before this step"));
  }
  for (const MixSource& source : result.sources) {
    if (source.has_validation) continue;
    warnings.push_back(source.path +
                       " has no validation split; set evaluation.sets in the job file, or prepare "
                       "it again with --val-fraction");
  }
  return warnings;
}

// The weights as the smallest whole numbers in the same ratio. Decimal numbers with the sum 1 would
// be rounded.
std::vector<std::string> BlendEntries(const MixResult& result) {
  std::vector<std::string> entries;
  for (size_t i = 0; i < result.sources.size(); ++i) {
    entries.push_back(absl::StrCat(result.stages[0].shares[i], " ", result.sources[i].path));
  }
  return entries;
}

std::vector<std::string> StageEntries(const MixResult& result) {
  std::vector<std::string> entries;
  for (size_t stage = 1; stage < result.stages.size(); ++stage) {
    std::string entry = absl::StrCat(result.stages[stage].first_step);
    for (size_t i = 0; i < result.sources.size(); ++i) {
      const int64_t share = result.stages[stage].shares[i];
      if (share > 0) absl::StrAppend(&entry, " ", result.sources[i].name, "=", share);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Writes each entry as a JSON text, which is also YAML.
std::string YamlList(const char* key, const std::vector<std::string>& entries) {
  if (entries.empty()) return "";
  std::string text = absl::StrCat("  ", key, ":\n");
  for (const std::string& entry : entries) {
    absl::StrAppend(&text, "    - ", ordered_json(entry).dump(), "\n");
  }
  return text;
}

// The text does not contain the output directory, so that the directory may be moved.
std::string JobFileText(const MixResult& result) {
  const bool is_nanogpt = result.sources.front().format == OutputFormat::kNanogpt;
  return absl::StrCat(
      "# Written by `trainyard data mix`. To use the blend, extend this file in a job file, after "
      "the recipe:\n# extends: [RECIPE, PATH/data.yaml]\ndata:\n",
      YamlList("blend", BlendEntries(result)), YamlList("blend_stages", StageEntries(result)),
      is_nanogpt ? "  format: nanogpt\n" : "");
}

ordered_json SourceJson(const MixResult& result, size_t i) {
  const MixSource& source = result.sources[i];
  ordered_json json = {{"name", source.name},           {"path", source.path},
                       {"tokens", source.train.tokens}, {"documents", source.train.documents},
                       {"tokenizer", source.tokenizer}, {"fingerprint", source.fingerprint}};
  ordered_json& files = json["xxh64"] = ordered_json::object();
  for (const TokenFileFacts& file : source.train.files) files[file.name] = file.xxh64;
  if (!result.uses.empty()) {
    json["tokens_used"] = result.uses[i].tokens;
    json["epochs"] = result.uses[i].passes;
  }
  return json;
}

std::string MixJson(const MixResult& result) {
  ordered_json json = {{"format", "trainyard-mix"},
                       {"version", 1},
                       {"tokens", result.tokens},
                       {"step_tokens", result.step_tokens},
                       {"weight_sum", result.weight_sum}};
  ordered_json& sources = json["sources"] = ordered_json::array();
  for (size_t i = 0; i < result.sources.size(); ++i) sources.push_back(SourceJson(result, i));
  ordered_json& stages = json["stages"] = ordered_json::array();
  for (const BlendStage& stage : result.stages) {
    std::vector<double> weights;
    for (size_t i = 0; i < stage.shares.size(); ++i) weights.push_back(ShareOf(stage, i));
    stages.push_back({{"step", stage.first_step}, {"shares", stage.shares}, {"weights", weights}});
  }
  json["warnings"] = result.warnings;
  return json.dump(2) + "\n";
}

double SumOfWeights(const std::vector<std::string>& blend) {
  double sum = 0;
  for (const std::string& entry : blend) sum += std::strtod(entry.c_str(), nullptr);
  return sum;
}

}  // namespace

absl::StatusOr<MixResult> DescribeMix(const DataConfig& data, const MixOptions& options) {
  if (!data.blend_stages.empty() && options.tokens > 0 && options.step_tokens == 0) {
    return absl::InvalidArgumentError(
        "--tokens needs --step-tokens, because `blend_stages` counts steps; pass the tokens of one "
        "step (train.global_batch * train.seq_length)");
  }
  MixResult result;
  result.directory = options.out;
  result.weight_sum = SumOfWeights(data.blend);
  result.tokens = options.tokens;
  result.step_tokens = options.step_tokens;
  result.stages = BlendStagesOf(data).stages;
  TRAINYARD_ASSIGN_OR_RETURN(result.sources, DescribeSources(BlendOf(data).sources));
  if (options.tokens > 0) result.uses = UsesOf(result, options);
  result.warnings = WarningsOf(result, options);
  return result;
}

MixFiles FilesOf(const MixResult& result) { return {JobFileText(result), MixJson(result)}; }

absl::Status WriteMix(const MixFiles& files, const std::string& directory, bool replace) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<OutputDirectory> output,
                             OutputDirectory::Create(directory, replace));
  const std::string& path = output->path();
  TRAINYARD_RETURN_IF_ERROR(WriteWholeFile(path + "/" + MixFiles::kJobFile, files.job_file));
  TRAINYARD_RETURN_IF_ERROR(WriteWholeFile(path + "/" + kMixFile, files.mix));
  return output->Publish();
}

absl::StatusOr<MixResult> MixData(const MixOptions& options) {
  TRAINYARD_ASSIGN_OR_RETURN(const DataConfig data, ReadMixFile(options.file));
  TRAINYARD_ASSIGN_OR_RETURN(MixResult result, DescribeMix(data, options));
  TRAINYARD_RETURN_IF_ERROR(WriteMix(FilesOf(result), options.out, options.force));
  return result;
}

}  // namespace trainyard::data
