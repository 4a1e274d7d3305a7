#include "cli/convert/convert.h"

#include <algorithm>
#include <functional>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/convert/config_readers.h"
#include "cli/convert/job_draft.h"
#include "cli/convert/job_writer.h"
#include "cli/convert/nemo_classes.h"
#include "cli/convert/script_reader.h"
#include "cli/convert/source/source_tree.h"
#include "proto/jobspec/node_range.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::cli {
namespace {

using TreeReader = absl::Status (*)(const SourceTree&, JobDraft&);

struct ConfigFormat {
  TreeReader read;
  // Settings that identify the format, because they occur in no other format.
  std::vector<std::string> marks;
};

// The configuration formats, in the order in which they are tried. GPT-NeoX comes first, because
// its configurations contain DeepSpeed's settings.
const std::vector<std::pair<std::string, ConfigFormat>>& ConfigFormats() {
  static const std::vector<std::pair<std::string, ConfigFormat>> formats = {
      {"determined", {ReadDetermined, {"entrypoint", "resources.slots_per_trial", "searcher"}}},
      {"gpt-neox",
       {ReadNeox,
        {"pipe-parallel-size", "pipe_parallel_size", "model-parallel-size", "num-layers",
         "num_layers"}}},
      {"nemo", {ReadNemo, {"trainer", "exp_manager", "model.encoder_seq_length"}}},
      {"olmo",
       {ReadOlmo,
        {"model.d_model", "max_duration", "device_train_microbatch_size",
         "global_train_batch_size"}}},
      {"torchtitan", {ReadTorchtitan, {"training", "model.flavor", "parallelism"}}},
      {"deepspeed",
       {ReadDeepSpeed,
        {"zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size",
         "gradient_accumulation_steps", "fp16", "bf16"}}}};
  return formats;
}

const std::map<std::string, std::string>& ScriptFormats() {
  static const std::map<std::string, std::string> formats = {
      {"megatron", "a Megatron-LM command line"},
      {"slurm", "a batch script"},
      {"launch", "a launch line of torchrun, deepspeed, accelerate or srun"}};
  return formats;
}

constexpr char kKnown[] =
    "supported inputs: command lines and batch scripts (torchrun, srun, deepspeed; Megatron-LM), "
    "torchtitan's TOML, DeepSpeed's JSON, YAML of GPT-NeoX, OLMo, NeMo and Determined; set the "
    "format with --from";

// Returns the first line that is neither empty nor a comment.
std::string FirstLine(const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view row = absl::StripAsciiWhitespace(line);
    if (!row.empty() && row.front() != '#') return std::string(row);
  }
  return "";
}

// `#!/usr/bin/env python3`.
bool HasPythonsShebang(const std::string& text) {
  return absl::StartsWith(text, "#!") &&
         absl::StrContains(text.substr(0, text.find('\n')), "python");
}

// True for text that starts with `name(` or `module.name(`. TOML values never start this way.
bool IsCallText(const std::string& value) {
  const size_t open = value.find('(');
  return open != std::string::npos && open > 0 &&
         std::all_of(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(open),
                     [](unsigned char byte) {
                       return absl::ascii_isalnum(byte) || byte == '_' || byte == '.';
                     });
}

bool LooksLikePython(const std::string& text) {
  if (HasPythonsShebang(text)) return true;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "import ") || absl::StartsWith(line, "def ") ||
        (absl::StartsWith(line, "from ") && absl::StrContains(line, " import "))) {
      return true;
    }
  }
  const std::string first = FirstLine(text);
  const size_t equals = first.find('=');
  if (equals == std::string::npos || absl::StrContains(first.substr(0, equals), '[')) return false;
  const std::string value(absl::StripAsciiWhitespace(first.substr(equals + 1)));
  return absl::StartsWith(value, "{") || IsCallText(value);
}

// True for text that begins with a table header or an assignment. YAML and scripts do not begin
// like this.
bool LooksLikeToml(const std::string& text) {
  const std::string first = FirstLine(text);
  const bool is_table = absl::StartsWith(first, "[") && absl::EndsWith(first, "]");
  const size_t equals = first.find('=');
  const bool is_assignment = equals != std::string::npos && equals > 0 &&
                             (first[equals - 1] == ' ' || absl::StrContains(first, "\"\"\""));
  return is_table || is_assignment;
}

bool LooksLikeJson(const std::string& text) {
  const std::string first = FirstLine(text);
  return absl::StartsWith(first, "{") || absl::StartsWith(first, "[{");
}

// Reads text that begins with a brace: JSON, or else YAML in braces, as in the files of GPT-NeoX.
absl::StatusOr<SourceTree> ReadBraces(const std::string& text) {
  absl::StatusOr<SourceTree> json = ReadJsonTree(text);
  if (json.ok()) return json;
  absl::StatusOr<SourceTree> yaml = ReadYamlTree(text);
  if (yaml.ok() && (yaml->Has("num-layers") || yaml->Has("pipe-parallel-size") ||
                    yaml->Has("num_layers") || yaml->Has("pipe_parallel_size"))) {
    return yaml;
  }
  return json.status();
}

const ConfigFormat* FormatOf(const SourceTree& tree, const std::string& format) {
  for (const auto& [name, config] : ConfigFormats()) {
    if (!format.empty() && name == format) return &config;
    if (!format.empty()) continue;
    const bool is_nemo = IsNemoCall(tree.call());
    if (is_nemo && name != "nemo") continue;
    if (is_nemo || std::any_of(config.marks.begin(), config.marks.end(),
                               [&](const std::string& mark) { return tree.Has(mark); })) {
      return &config;
    }
  }
  return nullptr;
}

// Returns the configuration in Python code: the first assignment with settings of a known trainer.
absl::StatusOr<SourceTree> ReadPython(const std::string& text, const std::string& format) {
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<SourceTree> trees, ReadPythonTrees(text));
  for (SourceTree& tree : trees) {
    const ConfigFormat* found = FormatOf(tree, "");
    if (found != nullptr && (format.empty() || found == FormatOf(tree, format))) {
      return std::move(tree);
    }
  }
  if (!format.empty()) return std::move(trees.front());
  return absl::InvalidArgumentError(absl::StrCat(
      "is Python code that contains no settings of a known trainer; the code is not executed. If "
      "this file is the training program, convert the command that starts it, such as `torchrun "
      "--nproc_per_node 8 train.py`; ",
      kKnown));
}

absl::StatusOr<SourceTree> ReadTree(const std::string& text, const std::string& format) {
  if (LooksLikePython(text)) return ReadPython(text, format);
  if (format == "torchtitan" || (format.empty() && LooksLikeToml(text))) return ReadTomlTree(text);
  if (LooksLikeJson(text)) return ReadBraces(text);
  return ReadYamlTree(text);
}

// True if the only value is a text of several lines that contains a table header. The text may then
// be TOML inside Python code.
bool HoldsWrappedToml(const SourceTree& tree) {
  return tree.values().size() == 1 && absl::StrContains(tree.values()[0].text, "\n[");
}

absl::Status ReadConfig(const std::string& text, const std::string& format, JobDraft& draft) {
  TRAINYARD_ASSIGN_OR_RETURN(const SourceTree tree, ReadTree(text, format));
  const ConfigFormat* config =
      FormatOf(tree, HoldsWrappedToml(tree) && format.empty() ? "torchtitan" : format);
  if (config != nullptr) return config->read(tree, draft);
  return absl::InvalidArgumentError(absl::StrCat("has no settings of a known trainer; ", kKnown));
}

absl::Status CheckText(const std::string& text) {
  if (absl::StrContains(text, '\0') || FirstInvalidUtf8(text).has_value()) {
    return absl::InvalidArgumentError("is not UTF-8 text");
  }
  if (FirstLine(text).empty() && !IsBatchScript(text)) {
    return absl::InvalidArgumentError(absl::StrCat("is empty; ", kKnown));
  }
  return absl::OkStatus();
}

// True for a script. Text that looks like a configuration is not a script: a configuration may
// contain a launch line, but a script never contains a configuration.
bool IsScript(const std::string& text) {
  if (IsBatchScript(text)) return true;
  if (absl::StartsWith(text, "#!")) return !HasPythonsShebang(text);
  if (LooksLikeJson(text) || LooksLikePython(text)) return false;
  const absl::StatusOr<SourceTree> tree = ReadTree(text, "");
  if (tree.ok() && FormatOf(*tree, "") != nullptr) return false;
  return IsMegatronScript(text) || IsLaunchScript(text);
}

absl::Status ReadSource(const std::string& text, const ConvertRequest& request, JobDraft& draft) {
  const std::string& format = request.format;
  TRAINYARD_RETURN_IF_ERROR(CheckText(text));
  if (ScriptFormats().contains(format) || (format.empty() && IsScript(text))) {
    return ReadScript(text, request.keeps_command, draft);
  }
  const absl::Status status = ReadConfig(text, format, draft);
  // Rejects prose. The error explains what input is expected, instead of reporting wrong syntax.
  const bool is_prose = format.empty() && !LooksLikeJson(text) && !LooksLikeToml(text) &&
                        !LooksLikePython(text) && !absl::StrContains(text, ": ") &&
                        !absl::StrContains(text, ":\n");
  if (status.ok() || !is_prose) return status;
  return absl::InvalidArgumentError(absl::StrCat(
      "has no Megatron-LM command, such as `torchrun ... pretrain_gpt.py --num-layers 32`, and no "
      "other launch line or configuration; ",
      kKnown));
}

void TakeCluster(const ConvertRequest& request, JobDraft& draft) {
  if (request.nodes > 0) draft.Set("resources.nodes", absl::StrCat(request.nodes));
  if (request.per_node > 0) draft.Set("resources.slots_per_node", absl::StrCat(request.per_node));
}

// The number of ranks; 0 if neither the sources nor the request state it.
int64_t RanksOf(const JobDraft& draft) {
  const int64_t slots = draft.Whole("resources.slots_per_node").value_or(0);
  // With a range of nodes, the largest gang decides.
  const auto range = ParseNodeRange(draft.Value("resources.nodes"));
  const bool is_range = range.has_value() && range->ok();
  const int64_t nodes = is_range ? (*range)->max : draft.Whole("resources.nodes").value_or(1);
  constexpr int64_t kMost = 1'000'000;
  return 0 < slots && slots <= kMost && 0 < nodes && nodes <= kMost ? slots * nodes : 0;
}

int64_t LayoutRanks(const JobDraft& draft) {
  int64_t ranks = 1;
  for (const char* key : {"layout.tp", "layout.cp", "layout.pp"}) {
    ranks *= std::clamp<int64_t>(draft.Whole(key).value_or(1), 1, 100000);
  }
  return ranks;
}

// Computes the batch size from the accumulation steps and the number of ranks. If the cluster is
// not known, adds a note instead.
void FinishBatch(JobDraft& draft) {
  const int64_t micro = draft.Whole("layout.micro_batch").value_or(0);
  constexpr int64_t kMost = 1'000'000;
  if (draft.accumulation <= 0 || micro <= 0) return;
  if (draft.accumulation > kMost || micro > kMost) return;
  const int64_t share = micro * draft.accumulation;
  const std::optional<int64_t> batch = draft.Whole("train.global_batch");
  const int64_t ranks = RanksOf(draft);
  const bool divides = ranks > 0 && ranks % LayoutRanks(draft) == 0;
  if (batch.has_value() && *batch % share != 0) {
    draft.Note(
        0, absl::StrCat("the batch size ", *batch, " is not a multiple of the micro-batch size (",
                        micro, ") * the number of micro-batches (", draft.accumulation,
                        "); correct one of these settings"));
  } else if (batch.has_value() && !divides) {
    draft.Note(0, absl::StrCat("these batch sizes require ", *batch / share,
                               " data-parallel ranks; pass --nodes and --per-node so that the "
                               "number of GPUs matches"));
  } else if (!batch.has_value() && divides) {
    draft.Set("train.global_batch", absl::StrCat(share * (ranks / LayoutRanks(draft))));
  } else if (!batch.has_value()) {
    draft.Note(0, absl::StrCat("the batch is ", share,
                               " samples per data-parallel rank, but the number of GPUs is "
                               "unknown; pass --nodes and --per-node"));
  }
}

void FinishModel(JobDraft& draft) {
  if (!draft.lacks_model || draft.HasCommand() || draft.Has("model.num_layers")) return;
  draft.Note(0,
             "a DeepSpeed configuration has no `model`, no `data` and no train.seq_length; extend "
             "a recipe (`extends: llama3-8b`), or convert the configuration together with the "
             "launch script (`trainyard convert ds_config.json run.sh`)");
}

// Adds a note if the layout needs several ranks but the job names no cluster of that size.
void FinishCluster(JobDraft& draft) {
  const int64_t data = std::clamp<int64_t>(draft.Whole("layout.dp").value_or(1), 1, 100000);
  const int64_t ranks = LayoutRanks(draft);
  if (draft.HasCommand() || draft.Has("resources.slots_per_node") || ranks * data == 1) return;
  draft.Note(
      0, absl::StrCat("the layout requires ", draft.Has("layout.dp") ? "" : "a multiple of ",
                      ranks * data,
                      " GPUs, but the number of nodes is unknown; pass --nodes and --per-node, or "
                      "set resources.nodes and resources.slots_per_node"));
}

// Removes settings of trainyard-trainer from a job that runs its own program, because that program
// reads its own settings.
void FinishProgram(JobDraft& draft) {
  if (!draft.HasCommand()) return;
  std::vector<std::string> dropped;
  for (const auto& [key, setting] : draft.settings()) {
    const std::string section = key.substr(0, key.find('.'));
    for (const char* name :
         {"model", "train", "optimizer", "schedule", "data", "layout", "evaluation"}) {
      if (section == name && key != section) dropped.push_back(key);
    }
  }
  for (const std::string& key : dropped) draft.Erase(key);
  if (!dropped.empty()) {
    draft.Note(0,
               "the program reads its own settings, so model, batch and optimizer are not in the "
               "job file");
  }
}

// Returns the requested name, else the sources' name with unsupported characters replaced by '-',
// else
// "converted".
std::string NameOf(const ConvertRequest& request, const JobDraft& draft) {
  if (!request.name.empty()) return request.name;
  std::string name;
  for (const char byte : draft.Value("name")) {
    const char lower = absl::ascii_tolower(static_cast<unsigned char>(byte));
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(lower)) || lower == '.';
    if (fits || !name.empty()) name += fits || lower == '_' ? lower : '-';
  }
  constexpr size_t kLongestName = 63;
  name.resize(std::min(name.size(), kLongestName));
  while (!name.empty() && (name.front() == '.')) name.erase(0, 1);
  return name.empty() ? "converted" : name;
}

}  // namespace

absl::StatusOr<ConvertedJob> ConvertToJob(const ConvertRequest& request) {
  JobDraft draft;
  const bool is_one = request.sources.size() == 1;
  for (const ConvertSource& source : request.sources) {
    draft.BeginSource(is_one ? "" : source.name);
    const absl::Status status = ReadSource(source.text, request, draft);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(source.name, ": ", status.message()));
    }
  }
  TakeCluster(request, draft);
  if (request.keeps_command && !draft.HasCommand()) {
    draft.Note(0,
               "no file contains a command to keep, so the job runs trainyard-trainer; to keep "
               "your program, also pass the script that starts it");
  }
  if (!draft.HasCommand()) FinishBatch(draft);
  FinishModel(draft);
  FinishCluster(draft);
  FinishProgram(draft);
  const std::string name = NameOf(request, draft);
  draft.Erase("name");
  return ConvertedJob{JobFileOf(draft, name), draft.Notes()};
}

std::vector<std::string> ConvertFormats() {
  std::vector<std::string> names;
  for (const auto& [name, format] : ConfigFormats()) names.push_back(name);
  for (const auto& [name, format] : ScriptFormats()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace trainyard::cli
