#include "cli/recipes/megatron_command.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/recipes/shell_words.h"

namespace trainyard::cli {
namespace {

// Options with a value that is a setting's as it is.
const std::map<std::string, std::string>& PlainSettings() {
  static const std::map<std::string, std::string> settings = {
      {"nnodes", "resources.nodes"},
      {"nproc-per-node", "resources.slots_per_node"},
      {"tensor-model-parallel-size", "layout.tp"},
      {"pipeline-model-parallel-size", "layout.pp"},
      {"context-parallel-size", "layout.cp"},
      {"num-virtual-stages-per-pipeline-rank", "layout.vpp"},
      {"micro-batch-size", "layout.micro_batch"},
      {"recompute-granularity", "layout.recompute"},
      {"recompute-num-layers", "layout.recompute_num_layers"},
      {"num-layers", "model.num_layers"},
      {"hidden-size", "model.hidden_size"},
      {"ffn-hidden-size", "model.ffn_hidden_size"},
      {"num-attention-heads", "model.num_attention_heads"},
      {"num-query-groups", "model.num_query_groups"},
      {"kv-channels", "model.kv_channels"},
      {"vocab-size", "model.vocab_size"},
      {"max-position-embeddings", "model.max_position_embeddings"},
      {"position-embedding-type", "model.position_embedding_type"},
      {"normalization", "model.normalization"},
      {"rotary-base", "model.rotary_base"},
      {"rope-theta", "model.rotary_base"},
      {"rotary-percent", "model.rotary_percent"},
      {"norm-epsilon", "model.norm_epsilon"},
      {"init-method-std", "model.init_method_std"},
      {"seq-length", "train.seq_length"},
      {"global-batch-size", "train.global_batch"},
      {"train-iters", "train.steps"},
      {"train-samples", "train.samples"},
      {"seed", "train.seed"},
      {"log-interval", "train.log_every_steps"},
      {"lr", "optimizer.lr"},
      {"min-lr", "optimizer.min_lr"},
      {"weight-decay", "optimizer.weight_decay"},
      {"adam-beta1", "optimizer.adam_beta1"},
      {"adam-beta2", "optimizer.adam_beta2"},
      {"adam-eps", "optimizer.adam_eps"},
      {"clip-grad", "optimizer.clip_grad"},
      {"lr-decay-style", "schedule.kind"},
      {"lr-warmup-iters", "schedule.warmup_steps"},
      {"lr-warmup-samples", "schedule.warmup_samples"},
      {"lr-warmup-fraction", "schedule.warmup_fraction"},
      {"lr-decay-iters", "schedule.decay_steps"},
      {"lr-decay-samples", "schedule.decay_samples"},
      {"eval-interval", "evaluation.every_steps"},
      {"save", "checkpoint.dir"},
      {"save-interval", "checkpoint.every_steps"},
      {"save-retain-interval", "checkpoint.keep_every_steps"}};
  return settings;
}

// Values whose names differ.
std::string ValueOf(const std::string& value) {
  static const std::map<std::string, std::string> names = {
      {"RMSNorm", "rms_norm"},
      {"LayerNorm", "layer_norm"},
      {"WSD", "wsd"},
      {"inverse-square-root", "inverse_square_root"}};
  const auto found = names.find(value);
  return found == names.end() ? value : found->second;
}

// Switches, with what they set.
const std::map<std::string, std::pair<std::string, std::string>>& Switches() {
  static const std::map<std::string, std::pair<std::string, std::string>> switches = {
      {"swiglu", {"model.activation", "swiglu"}},
      {"squared-relu", {"model.activation", "squared_relu"}},
      {"untie-embeddings-and-output-weights",
       {"model.untie_embeddings_and_output_weights", "true"}},
      {"disable-bias-linear", {"model.add_bias_linear", "false"}},
      {"qk-layernorm", {"model.qk_layernorm", "true"}},
      {"sequence-parallel", {"layout.sequence_parallel", "true"}},
      {"use-distributed-optimizer", {"layout.zero", "1"}},
      {"bf16", {"train.precision", "bf16"}},
      {"reset-attention-mask", {"data.reset_attention_mask", "true"}},
      {"reset-position-ids", {"data.reset_position_ids", "true"}},
      {"eod-mask-loss", {"data.eod_mask_loss", "true"}}};
  return switches;
}

// Options that ask for what trainyard-trainer does anyway, or that say how Megatron-LM does it.
const std::set<std::string>& NeedlessOptions() {
  static const std::set<std::string> options = {"overlap-grad-reduce",
                                                "overlap-param-gather",
                                                "use-mcore-models",
                                                "transformer-impl",
                                                "use-flash-attn",
                                                "use-flash-attn-v2",
                                                "group-query-attention",
                                                "attention-softmax-in-fp32",
                                                "apply-query-key-layer-scaling",
                                                "optimizer",
                                                "standalone",
                                                "master-addr",
                                                "master-port",
                                                "node-rank"};
  return options;
}

const std::set<std::string>& TokenizerOptions() {
  static const std::set<std::string> options = {"vocab-file", "merge-file", "tokenizer-type",
                                                "tokenizer-model", "split"};
  return options;
}

bool IsOption(const std::string& word) { return absl::StartsWith(word, "--"); }

bool IsValueOf(const ScriptWord& option, const ScriptWord& word) {
  return word.command == option.command && !IsOption(word.text) &&
         !absl::EndsWith(word.text, ".py");
}

class Converter {
 public:
  ConvertedJob Run(const std::vector<ScriptWord>& words, const std::string& name) {
    SetDefaults();
    for (size_t at = 0; at < words.size();) at = TakeWord(words, at);
    Finish();
    job_.text = TextOf(name);
    return std::move(job_);
  }

 private:
  // Megatron-LM's own where they differ from trainyard-trainer's.
  void SetDefaults() {
    settings_ = {{"model.activation", "gelu_tanh"},
                 {"model.normalization", "layer_norm"},
                 {"model.add_bias_linear", "true"},
                 {"model.untie_embeddings_and_output_weights", "false"},
                 {"model.position_embedding_type", "learned_absolute"},
                 {"layout.sequence_parallel", "false"},
                 {"optimizer.adam_beta2", "0.999"},
                 {"optimizer.weight_decay", "0.01"},
                 {"train.precision", "fp32"}};
  }

  void Note(int line, const std::string& text) {
    job_.notes.push_back(absl::StrCat("line ", line, ": ", text));
  }

  // Returns the position after the word and its values.
  size_t TakeWord(const std::vector<ScriptWord>& words, size_t at) {
    const ScriptWord& word = words[at++];
    if (!IsOption(word.text)) {
      if (absl::EndsWith(word.text, ".py")) {
        job_.has_program = job_.has_program || absl::StrContains(word.text, "pretrain_");
      } else if (word.text != "torchrun" && word.text != "python" && word.text != "python3") {
        Note(word.line, absl::StrCat("`", word.text, "` was not understood"));
      }
      return at;
    }
    std::string option = word.text.substr(2);
    std::vector<std::string> values;
    if (const size_t equals = option.find('='); equals != std::string::npos) {
      values.push_back(option.substr(equals + 1));
      option.resize(equals);
    }
    while (at < words.size() && IsValueOf(word, words[at])) values.push_back(words[at++].text);
    std::replace(option.begin(), option.end(), '_', '-');
    TakeOption(option, values, word.line);
    return at;
  }

  void TakeOption(const std::string& option, const std::vector<std::string>& values, int line) {
    if (NeedlessOptions().contains(option)) return;
    const std::string text =
        absl::StrCat("--", option, values.empty() ? "" : " ", absl::StrJoin(values, " "));
    if (TokenizerOptions().contains(option)) {
      return Note(line, absl::StrCat(text,
                                     ": the tokenizer is chosen by `trainyard data prepare`; "
                                     "set model.vocab_size"));
    }
    if (const auto found = Switches().find(option); found != Switches().end() && values.empty()) {
      settings_[found->second.first] = found->second.second;
      return;
    }
    if (const auto found = PlainSettings().find(option);
        found != PlainSettings().end() && values.size() == 1) {
      if (absl::StrContains(values[0], '$')) {
        return Note(line,
                    absl::StrCat(text, ": the script does not say its value; set ", found->second));
      }
      settings_[found->second] = ValueOf(values[0]);
      return;
    }
    TakeOther(option, values, text, line);
  }

  void TakeOther(const std::string& option, const std::vector<std::string>& values,
                 const std::string& text, int line) {
    if (option == "data-path" && !values.empty()) {
      TakeData(values);
    } else if (option == "rampup-batch-size" && values.size() == 3) {
      settings_["train.rampup_batch_start"] = values[0];
      settings_["train.rampup_batch_increment"] = values[1];
      settings_["train.rampup_batch_samples"] = values[2];
    } else if (option == "load" && values.size() == 1) {
      load_ = values[0];
    } else if (absl::StartsWith(option, "fp8") || option == "fp16") {
      Note(line, absl::StrCat(text, ": trainyard-trainer has no such arithmetic; the job is bf16"));
      settings_["train.precision"] = "bf16";
    } else if (absl::StartsWith(option, "moe-") || option == "num-experts" ||
               absl::StartsWith(option, "expert-")) {
      Note(line, absl::StrCat(text,
                              ": trainyard-trainer has no mixture of experts; the job is "
                              "another, dense model"));
    } else {
      Note(line, absl::StrCat(text, ": not understood"));
    }
  }

  // One path, or weights and paths in turn.
  void TakeData(const std::vector<std::string>& values) {
    if (values.size() == 1) {
      settings_["data.path"] = values[0];
    } else {
      std::vector<std::string> entries;
      for (size_t i = 0; i + 1 < values.size(); i += 2) {
        entries.push_back(absl::StrCat(values[i], " ", values[i + 1]));
      }
      settings_["data.blend"] = absl::StrCat("[", absl::StrJoin(entries, ", "), "]");
    }
    settings_["data.format"] = "megatron";
  }

  void Finish() {
    if (settings_["model.position_embedding_type"] != "learned_absolute") {
      settings_.erase("model.max_position_embeddings");
    }
    int64_t hidden = 0;
    if (!settings_.contains("model.ffn_hidden_size") &&
        absl::SimpleAtoi(settings_["model.hidden_size"], &hidden)) {
      settings_["model.ffn_hidden_size"] = absl::StrCat(4 * hidden);
    }
    // Later attempts go on from checkpoint.dir by themselves.
    if (!load_.empty() && load_ != settings_["checkpoint.dir"]) {
      settings_["checkpoint.resume_from"] = load_;
    }
    for (auto setting = settings_.begin(); setting != settings_.end();) {
      setting = setting->second.empty() ? settings_.erase(setting) : std::next(setting);
    }
  }

  std::string TextOf(const std::string& name) const {
    std::map<std::string, std::vector<std::string>> sections;
    for (const auto& [key, value] : settings_) {
      const size_t dot = key.find('.');
      sections[key.substr(0, dot)].push_back(absl::StrCat("  ", key.substr(dot + 1), ": ", value));
    }
    std::string text = absl::StrCat("name: ", name, "\n");
    for (const auto& [section, lines] : sections) {
      absl::StrAppend(&text, section, ":\n", absl::StrJoin(lines, "\n"), "\n");
    }
    return text;
  }

  std::map<std::string, std::string> settings_;
  std::string load_;
  ConvertedJob job_;
};

}  // namespace

ConvertedJob ConvertMegatron(const std::string& script, const std::string& name) {
  return Converter().Run(SplitScript(script), name);
}

}  // namespace trainyard::cli
