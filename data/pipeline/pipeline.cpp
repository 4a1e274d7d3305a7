#include "data/pipeline/pipeline.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/dedup/dedup_settings.h"
#include "data/filter/filter.h"
#include "data/pipeline/yaml_fields.h"
#include "data/prepare/tokenizers/choose_tokenizer.h"
#include "data/stages/hash_text.h"
#include "proto/rules/blend_stages.h"
#include "proto/rules/data_sources.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFileBytesMax = size_t{1} << 20;
constexpr int64_t kMemoryMibMax = int64_t{1} << 24;
constexpr int kThreadsMax = 1024;
constexpr int64_t kWordsMax = 1000;

constexpr char kFilterKey[] = "filter";
constexpr char kDedupKey[] = "dedup";
constexpr char kDecontaminateKey[] = "decontaminate";
constexpr char kTrainKey[] = "train_tokenizer";
constexpr char kCountKey[] = "count";
constexpr char kTokenizeKey[] = "tokenize";
constexpr char kMixKey[] = "mix";

class PipelineReader {
 public:
  PipelineReader(std::string display_name, std::string directory)
      : name_(std::move(display_name)), directory_(std::move(directory)) {}

  absl::StatusOr<Pipeline> Read(const YAML::Node& file) {
    YamlFields fields(file, name_);
    if (!file.IsMap()) return fields.Error(file, "must be a mapping with inputs, out and steps");
    for (const char* key : {"out", "steps"}) fields.Require(key);
    ReadSettings(&fields);
    TRAINYARD_RETURN_IF_ERROR(fields.Finish());
    const YAML::Node steps = file["steps"];
    if (!steps.IsSequence() || steps.size() == 0) {
      return fields.Error(steps, "`steps` must be a list of steps, such as - filter: {rules: c4}");
    }
    MakeAbsolute(&pipeline_.input.inputs);
    MakeAbsolute(&pipeline_.validation);
    pipeline_.out = Absolute(pipeline_.out);
    for (const YAML::Node& step : steps) TRAINYARD_RETURN_IF_ERROR(ReadStep(step));
    return std::move(pipeline_);
  }

 private:
  void ReadSettings(YamlFields* fields) {
    InputOptions& input = pipeline_.input;
    fields->Read("inputs", &input.inputs);
    fields->Read("out", &pipeline_.out);
    fields->Read("validation", &pipeline_.validation);
    fields->Read("field", &input.field);
    fields->ReadChoice("utf8", &input.utf8, {"strict", "replace"});
    fields->ReadChoice("bad", &input.bad, {"skip", "stop"});
    fields->Read("bad_fraction", &input.bad_fraction, 0, 1);
    int64_t jobs = 0;
    fields->Read("jobs", &jobs, 0, kThreadsMax);
    input.jobs = static_cast<int>(jobs);
    fields->Read("memory_mib", &pipeline_.memory_mib, 96, kMemoryMibMax);
    fields->Read("block_bytes", &pipeline_.block_bytes, 1, int64_t{1} << 40);
  }

  // A step is a mapping with one key, or only the key.
  absl::Status ReadStep(const YAML::Node& node) {
    const YamlFields errors(YAML::Node(), name_);
    std::string kind = node.IsScalar() ? node.Scalar() : "";
    YAML::Node settings;
    if (node.IsMap() && node.size() == 1) {
      kind = node.begin()->first.IsScalar() ? node.begin()->first.Scalar() : "";
      settings = node.begin()->second;
    }
    using Reader = StepOptions (PipelineReader::*)(YamlFields*);
    static const std::map<std::string, Reader> kReaders = {
        {kFilterKey, &PipelineReader::ReadFilter},
        {kDedupKey, &PipelineReader::ReadDedup},
        {kDecontaminateKey, &PipelineReader::ReadDecontaminate},
        {kTrainKey, &PipelineReader::ReadTrain},
        {kCountKey, &PipelineReader::ReadCount},
        {kTokenizeKey, &PipelineReader::ReadTokenize},
        {kMixKey, &PipelineReader::ReadMix}};
    const auto reader = kReaders.find(kind);
    if (reader == kReaders.end()) {
      return errors.Error(node,
                          absl::StrCat("unknown step `", kind,
                                       "`; a step is filter, dedup, decontaminate, "
                                       "train_tokenizer, count, tokenize or mix, followed by its "
                                       "settings"));
    }
    YamlFields fields(settings, name_);
    PipelineStep step;
    step.name = kind;
    fields.Read("name", &step.name);
    step.options = (this->*reader->second)(&fields);
    std::vector<std::string> inputs;
    if (kind != kMixKey) fields.Read("inputs", &inputs);
    TRAINYARD_RETURN_IF_ERROR(fields.Finish());
    absl::Status checked = Resolve(inputs, &step);
    if (checked.ok()) checked = Check(step);
    if (!checked.ok()) return errors.Error(node, std::string(checked.message()));
    pipeline_.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  StepOptions ReadFilter(YamlFields* fields) {
    FilterOptions filter;
    fields->Require("rules");
    fields->Read("rules", &filter.rules);
    if (filter.rules.ends_with(".yaml")) filter.rules = Absolute(filter.rules);
    return filter;
  }

  StepOptions ReadDedup(YamlFields* fields) {
    DedupOptions dedup;
    fields->Read("preset", &dedup.preset);
    fields->Read("threshold", &dedup.threshold, 0, 1);
    fields->ReadChoice("keep", &dedup.keep, {"greedy", "components"});
    fields->Read("against", &dedup.against);
    return dedup;
  }

  StepOptions ReadDecontaminate(YamlFields* fields) {
    DecontaminateOptions decontaminate;
    fields->Require("against");
    fields->Read("against", &decontaminate.against);
    MakeAbsolute(&decontaminate.against);
    fields->Read("against_field", &decontaminate.against_field);
    int64_t ngram = decontaminate.ngram;
    fields->Read("ngram", &ngram, 1, kWordsMax);
    decontaminate.ngram = static_cast<int>(ngram);
    int64_t min_words = decontaminate.min_words;
    fields->Read("min_words", &min_words, 1, kWordsMax);
    decontaminate.min_words = static_cast<int>(min_words);
    fields->Read("min_hits", &decontaminate.min_hits, 1, int64_t{1} << 30);
    fields->Read("min_share", &decontaminate.min_share, 0, 1);
    return decontaminate;
  }

  StepOptions ReadTrain(YamlFields* fields) {
    TrainTokenizerOptions train;
    fields->Read("vocab_size", &train.vocab_size, 257, 2'000'000);
    fields->Read("min_frequency", &train.min_frequency, 0, int64_t{1} << 60);
    fields->Read("special", &train.special);
    fields->ReadChoice("unit", &train.unit, {"line", "document"});
    return train;
  }

  StepOptions ReadCount(YamlFields* fields) {
    CountOptions count;
    fields->Read("tokenizers", &count.tokenizers);
    for (std::string& tokenizer : count.tokenizers) tokenizer = TokenizerPath(tokenizer);
    ReadTokenizerOptions(fields, &count.tokenizer_options);
    return count;
  }

  StepOptions ReadTokenize(YamlFields* fields) {
    TokenizeStep tokenize;
    tokenize.tokenizer.clear();
    fields->Read("tokenizer", &tokenize.tokenizer);
    tokenize.tokenizer = TokenizerPath(tokenize.tokenizer);
    ReadTokenizerOptions(fields, &tokenize.tokenizer_options);
    fields->Read("val_fraction", &tokenize.val_fraction, 0, 0.9);
    fields->Read("validation", &tokenize.val);
    MakeAbsolute(&tokenize.val);
    fields->ReadChoice("format", &tokenize.format, {"trainyard", "megatron", "nanogpt", "llmc"});
    return tokenize;
  }

  StepOptions ReadMix(YamlFields* fields) {
    MixStep mix;
    fields->Require("blend");
    fields->Read("blend", &mix.data.blend);
    fields->Read("blend_stages", &mix.data.blend_stages);
    fields->ReadTokens("tokens", &mix.tokens);
    fields->ReadTokens("step_tokens", &mix.step_tokens);
    return mix;
  }

  static void ReadTokenizerOptions(YamlFields* fields, TokenizerOptions* options) {
    fields->Read("family", &options->family);
    fields->ReadChoice("special_text", &options->special_text, {"text", "id"});
    fields->Read("end_of_document", &options->end_of_document);
  }

  // Returns the index of the earlier step of this name.
  std::optional<size_t> FindStep(const std::string& name) const {
    for (size_t i = 0; i < pipeline_.steps.size(); ++i) {
      if (pipeline_.steps[i].name == name) return i;
    }
    return std::nullopt;
  }

  // Finds the steps and paths that the step names.
  absl::Status Resolve(const std::vector<std::string>& inputs, PipelineStep* step) {
    if (auto* mix = std::get_if<MixStep>(&step->options)) return ResolveBlend(&mix->data.blend);
    if (auto* dedup = std::get_if<DedupOptions>(&step->options)) {
      std::vector<size_t> sources;
      std::vector<std::string> paths;
      TRAINYARD_RETURN_IF_ERROR(ResolveDocuments("against", dedup->against, &sources, &paths));
      for (const size_t source : sources) paths.push_back(DirectoryOf(source));
      dedup->against = std::move(paths);
    }
    if (!inputs.empty()) {
      return ResolveDocuments("inputs", inputs, &step->sources, &step->inputs);
    }
    for (size_t i = pipeline_.steps.size(); i-- > 0 && step->sources.empty();) {
      if (WritesDocuments(pipeline_.steps[i].options)) step->sources.push_back(i);
    }
    if (!step->sources.empty()) return absl::OkStatus();
    step->inputs = pipeline_.input.inputs;
    if (!step->inputs.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "`inputs` is missing; add it to the file or to this step, with the files to read");
  }

  absl::Status ResolveDocuments(const std::string& key, const std::vector<std::string>& names,
                                std::vector<size_t>* sources,
                                std::vector<std::string>* paths) const {
    for (const std::string& name : names) {
      const std::optional<size_t> source = FindStep(name);
      if (!source) {
        paths->push_back(Absolute(name));
        continue;
      }
      if (!WritesDocuments(pipeline_.steps[*source].options)) {
        return absl::InvalidArgumentError("`" + key + "` names the step " + name +
                                          ", which writes no documents; name a step filter, dedup "
                                          "or decontaminate, or write ./" +
                                          name + " for a file");
      }
      sources->push_back(*source);
    }
    // A plan ignores the times either of all its files or of none.
    if (sources->empty() || paths->empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("`" + key + "` names steps and files (" + paths->front() +
                                      "); name either steps or files");
  }

  // Replaces the names of steps by their directories, and makes the other paths absolute.
  absl::Status ResolveBlend(std::vector<std::string>* blend) const {
    for (std::string& entry : *blend) {
      const auto [weight, path] = SplitEntry(entry);
      if (path.empty()) continue;  // BlendOf refuses the entry.
      const std::optional<size_t> source = FindStep(path);
      if (source && !std::holds_alternative<TokenizeStep>(pipeline_.steps[*source].options)) {
        return absl::InvalidArgumentError("`blend` names the step " + path +
                                          ", which writes no tokens; name a step tokenize, or "
                                          "write ./" +
                                          path + " for a data set");
      }
      entry = weight + " " + (source ? DirectoryOf(*source) : Absolute(path));
      if (!IsUtf8(entry)) {
        return absl::InvalidArgumentError(
            "the directory of the pipeline has a name that is not UTF-8; rename it");
      }
    }
    return absl::OkStatus();
  }

  std::string DirectoryOf(size_t step) const {
    return pipeline_.out + "/" + pipeline_.steps[step].name;
  }

  absl::Status Check(const PipelineStep& step) {
    const bool is_name =
        !step.name.empty() &&
        step.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
    if (!is_name) {
      return absl::InvalidArgumentError("the name of a step may contain only a-z, 0-9, _ and -");
    }
    if (!names_.insert(step.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("second step ", step.name, "; give it another name with `name`"));
    }
    if (const auto* filter = std::get_if<FilterOptions>(&step.options)) {
      return Filter::Load(filter->rules).status();
    }
    if (const auto* dedup = std::get_if<DedupOptions>(&step.options)) {
      return PresetSettings(dedup->preset, dedup->threshold, dedup->keep).status();
    }
    if (std::holds_alternative<TrainTokenizerOptions>(step.options)) {
      if (trains_) return absl::InvalidArgumentError("a pipeline trains at most one tokenizer");
      trains_ = true;
    }
    if (const auto* mix = std::get_if<MixStep>(&step.options)) return CheckMix(*mix);
    const auto* tokenize = std::get_if<TokenizeStep>(&step.options);
    if (tokenize != nullptr && tokenize->tokenizer.empty()) return CheckTrained();
    if (tokenize != nullptr && IsTrainedOnInputs(tokenize->tokenizer)) {
      return absl::InvalidArgumentError(
          "bpe and unigram are trained by data prepare; use the step train_tokenizer");
    }
    const auto* count = std::get_if<CountOptions>(&step.options);
    return count != nullptr && count->tokenizers.empty() ? CheckTrained() : absl::OkStatus();
  }

  static absl::Status CheckMix(const MixStep& mix) {
    std::string problem = BlendOf(mix.data).problem;
    if (problem.empty()) problem = BlendStagesOf(mix.data).problem;
    if (!problem.empty()) return absl::InvalidArgumentError(problem);
    if (mix.data.blend_stages.empty() || mix.tokens == 0 || mix.step_tokens > 0) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "`tokens` needs `step_tokens`, because `blend_stages` counts steps; set the tokens of one "
        "step (train.global_batch * train.seq_length)");
  }

  absl::Status CheckTrained() const {
    if (trains_) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "no tokenizer is named, and no earlier step trains one; name a tokenizer, or add the step "
        "train_tokenizer before this one");
  }

  std::string Absolute(const std::string& path) const {
    return (fs::path(directory_) / path).lexically_normal().string();
  }
  void MakeAbsolute(std::vector<std::string>* paths) const {
    for (std::string& path : *paths) path = Absolute(path);
  }
  // "byte" and "gpt2" are part of the program. The name of a step is the tokenizer that it trains.
  std::string TokenizerPath(const std::string& tokenizer) const {
    const std::optional<size_t> step = FindStep(tokenizer);
    if (step && std::holds_alternative<TrainTokenizerOptions>(pipeline_.steps[*step].options)) {
      return DirectoryOf(*step) + "/tokenizer.json";
    }
    const bool is_built_in = tokenizer.empty() || tokenizer == "byte" || tokenizer == "gpt2";
    return is_built_in || IsTrainedOnInputs(tokenizer) ? tokenizer : Absolute(tokenizer);
  }

  const std::string name_;
  const std::string directory_;
  Pipeline pipeline_;
  std::set<std::string> names_;
  bool trains_ = false;
};

}  // namespace

bool WritesDocuments(const StepOptions& options) {
  return std::holds_alternative<FilterOptions>(options) ||
         std::holds_alternative<DedupOptions>(options) ||
         std::holds_alternative<DecontaminateOptions>(options);
}

absl::StatusOr<Pipeline> ParsePipeline(std::string_view yaml, const std::string& display_name,
                                       const std::string& directory) {
  try {
    TRAINYARD_ASSIGN_OR_RETURN(
        Pipeline pipeline,
        PipelineReader(display_name, directory).Read(YAML::Load(std::string(yaml))));
    pipeline.hash = HashTextOf(yaml);
    return pipeline;
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(display_name, ": ", error.what()));
  }
}

absl::StatusOr<Pipeline> ReadPipeline(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError("cannot open " + path);
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) {
    return absl::InvalidArgumentError(path + " has more than 1 MiB, and is no pipeline");
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return ParsePipeline(text, path, absolute.parent_path().string());
}

}  // namespace trainyard::data
