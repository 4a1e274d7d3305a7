#include "trainer/checkpoint_tools/commands/command_line.h"

#include <charconv>
#include <cmath>
#include <map>
#include <system_error>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

constexpr char kCommands[] = "verify, diff, reshard, import or export";

constexpr char kHelp[] =
    R"(trainyard-ckpt: tools for checkpoints, without a controller; `trainyard ckpt` runs it.

  trainyard-ckpt verify DIR [--all]
      Reads every byte of a checkpoint and verifies its checksums; prints one line per fault. In a
      job's checkpoint directory, verifies the newest checkpoint, or every one with --all.

  trainyard-ckpt diff A B [--tolerance X] [--only WHAT] [--all] [--output json]
      Compares the model settings, trainer state and tensors of two checkpoints, whose layouts
      may differ. Tensors are equal if their relative L2 difference |B - A| / |A| is at most X; the
      default 0 requires identical bits. WHAT is weights, optimizer, or a prefix of tensor names;
      only these tensors are compared. --all also shows equal tensors.

  trainyard-ckpt reshard IN OUT [--files N] [--weights-only] [--force]
      Writes a checkpoint with the same contents, spread evenly over N files (of about 4 GiB by
      default). --weights-only omits the optimizer state; no job can resume from the result.
      --force replaces a checkpoint at OUT.

  trainyard-ckpt import DIR OUT [--force]
      Creates a checkpoint of step 0 from a Hugging Face directory (config.json, model.safetensors
      or its shards), and prints the matching `model` section of a job file. A job with any layout
      can start from this checkpoint: set checkpoint.resume_from to OUT. The weights are copied bit
      for bit, and the optimizer state is new. A model is refused if the trainer's results would
      differ from those of transformers; the message names the key of config.json that causes the
      difference. --force replaces a checkpoint at OUT.

  trainyard-ckpt export IN DIR [--dtype fp32|bf16] [--shard-bytes N] [--force]
      Writes the weights of a checkpoint and a config.json for transformers into a new directory,
      without the optimizer's state and without a tokenizer. --dtype converts the weights (default:
      as stored; bf16 is rounded to nearest, ties to even). A file has at most N bytes of tensors
      (default: 5000000000); a larger tensor has its own file. --force replaces an earlier export at
      DIR, but never a directory with other files.

  trainyard-ckpt --version | --help

Supported Hugging Face models: LlamaForCausalLM (without rope_scaling, or with the rope_scaling of
LLaMA 3.1), MistralForCausalLM, Qwen3ForCausalLM, OlmoForCausalLM, GPT2LMHeadModel,
GPTNeoXForCausalLM, MixtralForCausalLM, Qwen3MoeForCausalLM, DeepseekV2ForCausalLM,
DeepseekV3ForCausalLM.

Exit codes: 0 done (diff: the checkpoints are equal), 1 diff: the checkpoints differ, 2 wrong
command line, 70 internal error, 73 cannot write, 74 a checkpoint or a Hugging Face directory is
damaged, unreadable or absent, 78 (import, export) the trainer or Hugging Face does not support
the model, 130 interrupted.
)";

[[noreturn]] void Refuse(const std::string& what) {
  throw TrainerError(ExitCode::kUsage, what + "; see trainyard-ckpt --help");
}

// The arguments of a command, separated into options and positional arguments.
class Arguments {
 public:
  // Maps each option of the command to the name of its value; nullptr for a flag.
  using Known = std::map<std::string, const char*>;

  Arguments(const std::vector<std::string>& words, const Known& known) : command_(words.at(0)) {
    size_t i = 1;
    for (; i < words.size() && words[i] != "--"; ++i) {
      if (words[i].size() > 1 && words[i][0] == '-') {
        i = TakeOption(words, i, known);
      } else {
        places_.push_back(words[i]);
      }
    }
    if (i < words.size()) {
      places_.insert(places_.end(), words.begin() + static_cast<int64_t>(i) + 1, words.end());
    }
  }

  bool Has(const std::string& option) const { return values_.contains(option); }
  std::string Value(const std::string& option) const {
    return Has(option) ? values_.at(option) : "";
  }

  // Returns the positional arguments. Throws a usage error if their number differs from the number
  // of `names`.
  std::vector<std::string> Places(const std::vector<std::string>& names) const {
    std::string wanted;
    for (const std::string& name : names) wanted += " " + name;
    if (places_.size() != names.size()) {
      Refuse("`" + command_ + "` takes" + wanted + ", but got " + std::to_string(places_.size()) +
             " arguments");
    }
    for (const std::string& place : places_) {
      if (place.empty()) Refuse("an argument is empty; check for an unset shell variable");
    }
    return places_;
  }

 private:
  // Parses the option at words[i]. Returns the index of the option's last word.
  size_t TakeOption(const std::vector<std::string>& words, size_t i, const Known& known) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const auto option = known.find(name);
    if (option == known.end()) Refuse("`" + command_ + "` has no option `" + name + "`");
    const bool is_flag = option->second == nullptr;
    if (is_flag && equals != std::string::npos) Refuse("`" + name + "` takes no value");
    if (is_flag) {
      values_[name] = "";
      return i;
    }
    const bool is_next = equals == std::string::npos;
    if (is_next && i + 1 == words.size()) {
      Refuse("`" + name + "` needs a value: " + option->second);
    }
    values_[name] = is_next ? words[i + 1] : words[i].substr(equals + 1);
    if (values_[name].empty()) Refuse("`" + name + "` needs a value: " + option->second);
    return is_next ? i + 1 : i;
  }

  const std::string command_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> places_;
};

// Parses text that consists of exactly one number. Throws a usage error for any other text.
template <typename Number>
Number NumberOf(const std::string& text, const std::string& option, const char* what) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) {
    Refuse("`" + option + " " + text + "` must be " + what);
  }
  return number;
}

CheckpointCommand ParseVerify(const std::vector<std::string>& words) {
  const Arguments arguments(words, {{"--all", nullptr}});
  return VerifyOptions{arguments.Places({"DIR"})[0], arguments.Has("--all")};
}

CheckpointCommand ParseDiff(const std::vector<std::string>& words) {
  const Arguments arguments(words, {{"--tolerance", "a number"},
                                    {"--only", "weights, optimizer or a prefix of tensor names"},
                                    {"--output", "table or json"},
                                    {"--all", nullptr}});
  DiffCommand command;
  const std::vector<std::string> places = arguments.Places({"A", "B"});
  command.options.a = places[0];
  command.options.b = places[1];
  command.options.only = arguments.Value("--only");
  command.all_tensors = arguments.Has("--all");
  command.json = arguments.Value("--output") == "json";
  if (arguments.Has("--output") && !command.json && arguments.Value("--output") != "table") {
    Refuse("`--output` must be table or json");
  }
  if (arguments.Has("--tolerance")) {
    const std::string text = arguments.Value("--tolerance");
    constexpr char kWhat[] = "a number, 0 or more";
    command.options.tolerance = NumberOf<double>(text, "--tolerance", kWhat);
    if (!(command.options.tolerance >= 0)) Refuse("`--tolerance " + text + "` must be " + kWhat);
  }
  return command;
}

CheckpointCommand ParseReshard(const std::vector<std::string>& words) {
  const Arguments arguments(
      words, {{"--files", "a number"}, {"--weights-only", nullptr}, {"--force", nullptr}});
  ReshardOptions options;
  const std::vector<std::string> places = arguments.Places({"IN", "OUT"});
  options.from = places[0];
  options.to = places[1];
  options.weights_only = arguments.Has("--weights-only");
  options.replace = arguments.Has("--force");
  if (arguments.Has("--files")) {
    constexpr int64_t kMostFiles = 99999;  // File names have five digits.
    const std::string text = arguments.Value("--files");
    constexpr char kWhat[] = "a whole number from 1 to 99999";
    options.files = NumberOf<int64_t>(text, "--files", kWhat);
    if (options.files < 1 || options.files > kMostFiles) {
      Refuse("`--files " + text + "` must be " + kWhat);
    }
  }
  return options;
}

CheckpointCommand ParseImport(const std::vector<std::string>& words) {
  const Arguments arguments(words, {{"--force", nullptr}});
  const std::vector<std::string> places = arguments.Places({"DIR", "OUT"});
  return ImportOptions{places[0], places[1], arguments.Has("--force")};
}

CheckpointCommand ParseExport(const std::vector<std::string>& words) {
  const Arguments arguments(
      words, {{"--dtype", "fp32 or bf16"}, {"--shard-bytes", "a number"}, {"--force", nullptr}});
  const std::vector<std::string> places = arguments.Places({"IN", "DIR"});
  ExportOptions options = {places[0], places[1]};
  options.replace = arguments.Has("--force");
  if (arguments.Has("--dtype")) {
    const std::string name = arguments.Value("--dtype");
    if (name != "fp32" && name != "bf16") Refuse("`--dtype " + name + "` must be fp32 or bf16");
    options.dtype = name == "fp32" ? torch::kFloat32 : torch::kBFloat16;
  }
  if (arguments.Has("--shard-bytes")) {
    const std::string text = arguments.Value("--shard-bytes");
    constexpr char kWhat[] = "a whole number of bytes, 1 or more, such as 5000000000";
    options.shard_bytes = NumberOf<int64_t>(text, "--shard-bytes", kWhat);
    if (options.shard_bytes < 1) Refuse("`--shard-bytes " + text + "` must be " + kWhat);
  }
  return options;
}

}  // namespace

CheckpointCommand ParseCheckpointCommand(const std::vector<std::string>& arguments) {
  if (arguments.empty()) Refuse(std::string("no command: ") + kCommands);
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == "--help" || argument == "-h") return Answer{kHelp};
  }
  const std::string& command = arguments[0];
  if (command == "--version") return Answer{"trainyard-ckpt " TRAINYARD_VERSION "\n"};
  if (command == "verify") return ParseVerify(arguments);
  if (command == "diff") return ParseDiff(arguments);
  if (command == "reshard") return ParseReshard(arguments);
  if (command == "import") return ParseImport(arguments);
  if (command == "export") return ParseExport(arguments);
  Refuse("unknown command `" + command + "`: " + kCommands);
}

}  // namespace trainyard::trainer
