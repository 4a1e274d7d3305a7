#include "cli/convert/format_detection.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/convert/foreign_formats.h"
#include "cli/convert/megatron_file.h"
#include "cli/convert/nemo_classes.h"
#include "cli/convert/script_reader.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

struct ConfigFormat {
  ConfigReader (*reader)();
  // Settings that identify the format, because they occur in no other format.
  std::vector<std::string> marks;
};

// The configuration formats, in the order in which they are tried. GPT-NeoX comes first, because
// its configurations contain DeepSpeed's settings.
const std::vector<std::pair<std::string, ConfigFormat>>& ConfigFormats() {
  static const std::vector<std::pair<std::string, ConfigFormat>> formats = {
      {"determined", {DeterminedFormat, {"entrypoint", "resources.slots_per_trial", "searcher"}}},
      {"gpt-neox",
       {NeoxFormat,
        {"pipe-parallel-size", "pipe_parallel_size", "model-parallel-size", "num-layers",
         "num_layers"}}},
      {"nemo", {NemoFormat, {"trainer", "exp_manager", "model.encoder_seq_length"}}},
      {"olmo",
       {OlmoFormat,
        {"model.d_model", "max_duration", "device_train_microbatch_size",
         "global_train_batch_size"}}},
      {"torchtitan", {TorchtitanFormat, {"training", "model.flavor", "parallelism"}}},
      {"deepspeed",
       {DeepSpeedFormat,
        {"zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size",
         "gradient_accumulation_steps", "fp16", "bf16"}}}};
  return formats;
}

const std::vector<std::string>& ScriptFormats() {
  static const std::vector<std::string> formats = {"launch", "megatron", "slurm"};
  return formats;
}

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

// True if a line starts like a command of a shell. A script may contain Python code in a
// here-document.
bool HasShellLine(const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    for (const char* start :
         {"cd ", "export ", "pip install ", "python ", "python3 ", "torchrun "}) {
      if (absl::StartsWith(line, start)) return true;
    }
  }
  return false;
}

bool LooksLikePython(const std::string& text) {
  if (HasPythonsShebang(text)) return true;
  if (HasShellLine(text)) return false;
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

struct FoundFormat {
  const ConfigFormat* config = nullptr;
  std::string name;
  std::string mark;
};

FoundFormat FormatOf(const SourceTree& tree, const std::string& format) {
  const bool is_nemo = IsNemoCall(tree.call());
  for (const auto& [name, config] : ConfigFormats()) {
    if (!format.empty() && name == format) return {&config, name, ""};
    if (!format.empty() || (is_nemo && name != "nemo")) continue;
    const auto mark =
        std::find_if(config.marks.begin(), config.marks.end(),
                     [&](const std::string& candidate) { return tree.Has(candidate); });
    if (is_nemo) return {&config, name, tree.call()};
    if (mark != config.marks.end()) return {&config, name, *mark};
  }
  return {};
}

// Reads text that begins with a brace: JSON, or else YAML in braces, as in the files of GPT-NeoX.
// `neighbor`: the format of another file of the run.
absl::StatusOr<SourceTree> ReadBraces(const std::string& text, const std::string& neighbor) {
  absl::StatusOr<SourceTree> json = ReadJsonTree(text);
  if (json.ok()) return json;
  absl::StatusOr<SourceTree> yaml = ReadYamlTree(text);
  const bool is_neox =
      yaml.ok() && (neighbor == "gpt-neox" || FormatOf(*yaml, "").name == "gpt-neox");
  return is_neox ? std::move(yaml) : absl::StatusOr<SourceTree>(json.status());
}

// Returns the configuration in Python code: the first assignment with settings of a known trainer.
absl::StatusOr<SourceTree> ReadPython(const std::string& text, const std::string& format) {
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<SourceTree> trees, ReadPythonTrees(text));
  for (SourceTree& tree : trees) {
    const FoundFormat found = FormatOf(tree, "");
    if (found.config != nullptr && (format.empty() || found.name == format)) {
      return std::move(tree);
    }
  }
  if (!format.empty()) return std::move(trees.front());
  return absl::InvalidArgumentError(absl::StrCat(
      "is Python code that contains no settings of a known trainer; the code is not executed. If "
      "this file is the training program, convert the command that starts it, such as `torchrun "
      "--nproc_per_node 8 train.py`; ",
      SupportedInputs()));
}

absl::StatusOr<SourceTree> ReadTree(const std::string& text, const std::string& format,
                                    const std::string& neighbor) {
  if (LooksLikePython(text)) return ReadPython(text, format);
  if (format == "torchtitan" || (format.empty() && LooksLikeToml(text))) return ReadTomlTree(text);
  if (LooksLikeJson(text)) return ReadBraces(text, format.empty() ? neighbor : format);
  return ReadYamlTree(text);
}

// True if the only value is a text of several lines that contains a table header. The text may then
// be TOML inside Python code.
bool HoldsWrappedToml(const SourceTree& tree) {
  return tree.values().size() == 1 && absl::StrContains(tree.values()[0].text, "\n[");
}

// True if all keys at the top are words. The text of a script is no such mapping.
bool IsPlainMapping(const SourceTree& tree) {
  return !tree.values().empty() &&
         std::all_of(tree.values().begin(), tree.values().end(), [](const SourceValue& value) {
           const std::string key = value.path.substr(0, value.path.find_first_of(".["));
           return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char byte) {
             return absl::ascii_isalnum(byte) || byte == '_' || byte == '-';
           });
         });
}

// True if a line that is not a comment looks like `key: value`.
bool HasYamlLine(const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view row = absl::StripAsciiWhitespace(line);
    const bool is_comment = absl::StartsWith(row, "#");
    if (!is_comment && (absl::StrContains(row, ": ") || absl::EndsWith(row, ":"))) return true;
  }
  return false;
}

// True for prose. Its error explains what input is expected, instead of reporting wrong syntax.
bool IsProse(const std::string& text) {
  return !LooksLikeJson(text) && !LooksLikeToml(text) && !LooksLikePython(text) &&
         !HasYamlLine(text);
}

// True if more keys are options of Megatron-LM than settings of the format that was found. GPT-NeoX
// and DeepSpeed share some names with Megatron-LM.
bool IsMegatronFile(const SourceTree& tree, const FoundFormat& found) {
  const size_t options = CountMegatronOptions(tree);
  if (options < 2 || !tree.call().empty()) return false;
  if (found.config == nullptr) return 2 * options > tree.values().size();
  const ConfigReader reader = found.config->reader();
  const absl::StatusOr<SourceTree> prepared = reader.prepare(tree);
  if (!prepared.ok()) return false;
  JobDraft unused;
  const KeyCounts counts = Translate(*prepared, reader.table(), unused);
  return options > counts.all - counts.unknown;
}

// Returns the format of a tree that shows none itself or that the caller has named.
absl::StatusOr<DetectedFormat> NamedFormat(SourceTree tree, const std::string& format,
                                           const std::string& reason) {
  const FoundFormat found = FormatOf(tree, format);
  return DetectedFormat{found.name, reason, found.config->reader(), std::move(tree)};
}

}  // namespace

absl::StatusOr<DetectedFormat> DetectConfig(const std::string& text, const std::string& format,
                                            const std::string& neighbor) {
  absl::StatusOr<SourceTree> tree = ReadTree(text, format, neighbor);
  if (!tree.ok() && format.empty() && IsProse(text)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has no Megatron-LM command, such as `torchrun ... pretrain_gpt.py --num-layers 32`, and "
        "no other launch line or configuration; ",
        SupportedInputs()));
  }
  TRAINYARD_RETURN_IF_ERROR(tree.status());
  if (!format.empty()) return NamedFormat(*std::move(tree), format, "--from names it");
  if (HoldsWrappedToml(*tree)) {
    return NamedFormat(*std::move(tree), "torchtitan", "it contains TOML as one text");
  }
  if (const std::string foreign = ForeignFormat(*tree); !foreign.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(foreign, "; ", SupportedInputs()));
  }
  const FoundFormat found = FormatOf(*tree, "");
  if (IsMegatronFile(*tree, found)) {
    return DetectedFormat{
        kMegatronFormat, "its keys are options of Megatron-LM", {}, *std::move(tree)};
  }
  if (found.config != nullptr) {
    const bool is_call = found.mark == tree->call();
    return DetectedFormat{found.name,
                          is_call ? absl::StrCat("it calls ", found.mark)
                                  : absl::StrCat("it has the key ", found.mark),
                          found.config->reader(), *std::move(tree)};
  }
  if (!neighbor.empty()) {
    return NamedFormat(*std::move(tree), neighbor, "another file of the run has this format");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("has no settings of a known trainer; ", SupportedInputs()));
}

ScriptFormat DetectScript(const std::string& text) {
  if (IsBatchScript(text)) return {"slurm", "it has #SBATCH lines"};
  const bool has_shebang = absl::StartsWith(text, "#!");
  if (has_shebang && HasPythonsShebang(text)) return {};
  if (!has_shebang) {
    if (LooksLikeJson(text) || LooksLikePython(text)) return {};
    const absl::StatusOr<SourceTree> tree = ReadTree(text, "", "");
    if (tree.ok() && (FormatOf(*tree, "").config != nullptr || IsPlainMapping(*tree))) return {};
  }
  if (IsMegatronScript(text)) return {"megatron", "it runs a script named pretrain_*.py"};
  if (IsLaunchScript(text)) return {"launch", "it has a command that starts a program"};
  if (has_shebang) return {"launch", "its first line names a shell"};
  if (IsVariableScript(text)) return {"launch", "it only sets variables of a shell"};
  return {};
}

bool IsScriptFormat(const std::string& format) {
  return std::find(ScriptFormats().begin(), ScriptFormats().end(), format) != ScriptFormats().end();
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names = ScriptFormats();
  for (const auto& [name, format] : ConfigFormats()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string SupportedInputs() {
  return "supported inputs: command lines and batch scripts (torchrun, srun, deepspeed; "
         "Megatron-LM), torchtitan's TOML, DeepSpeed's JSON, YAML of GPT-NeoX, OLMo, NeMo and "
         "Determined; set the format with --from";
}

bool IsEmptyText(const std::string& text) { return FirstLine(text).empty(); }

}  // namespace trainyard::cli
