#include "cli/convert/megatron_reader.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/convert/expert_settings.h"
#include "cli/convert/source/source_tree.h"

namespace trainyard::cli {
namespace {

// Options of Megatron-LM for experts and latent attention, each with the job setting that takes the
// option's value unchanged.
const std::map<std::string, std::string>& PlainExpertSettings() {
  static const std::map<std::string, std::string> settings = {
      {"expert-model-parallel-size", "layout.ep"},
      {"expert-tensor-parallel-size", "layout.etp"},
      {"moe-token-dispatcher-type", "layout.moe_token_dispatcher_type"},
      {"num-experts", "model.num_experts"},
      {"moe-router-topk", "model.moe_router_topk"},
      {"moe-ffn-hidden-size", "model.moe_ffn_hidden_size"},
      {"moe-shared-expert-intermediate-size", "model.moe_shared_expert_intermediate_size"},
      {"moe-router-load-balancing-type", "model.moe_router_load_balancing_type"},
      {"moe-aux-loss-coeff", "model.moe_aux_loss_coeff"},
      {"moe-z-loss-coeff", "model.moe_z_loss_coeff"},
      {"moe-router-score-function", "model.moe_router_score_function"},
      {"moe-router-topk-scaling-factor", "model.moe_router_topk_scaling_factor"},
      {"moe-router-num-groups", "model.moe_router_num_groups"},
      {"moe-router-group-topk", "model.moe_router_group_topk"},
      {"moe-router-bias-update-rate", "model.moe_router_bias_update_rate"},
      {"q-lora-rank", "model.q_lora_rank"},
      {"kv-lora-rank", "model.kv_lora_rank"},
      {"qk-head-dim", "model.qk_head_dim"},
      {"qk-pos-emb-head-dim", "model.qk_pos_emb_head_dim"},
      {"v-head-dim", "model.v_head_dim"}};
  return settings;
}

// Options whose value becomes the value of a job setting unchanged.
const std::map<std::string, std::string>& PlainSettings() {
  static const std::map<std::string, std::string> settings = {
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
      {"kv-channels", "model.kv_channels"},
      {"vocab-size", "model.vocab_size"},
      {"max-position-embeddings", "model.max_position_embeddings"},
      {"position-embedding-type", "model.position_embedding_type"},
      {"normalization", "model.normalization"},
      {"rotary-base", "model.rotary_base"},
      {"rope-theta", "model.rotary_base"},
      {"rotary-percent", "model.rotary_percent"},
      {"norm-epsilon", "model.norm_epsilon"},
      {"rope-scaling-factor", "model.rope_scaling_factor"},
      {"init-method-std", "model.init_method_std"},
      {"seq-length", "train.seq_length"},
      {"global-batch-size", "train.global_batch"},
      {"train-iters", "train.steps"},
      {"train-samples", "train.samples"},
      {"initial-loss-scale", "train.initial_loss_scale"},
      {"min-loss-scale", "train.min_loss_scale"},
      {"loss-scale-window", "train.loss_scale_window"},
      {"hysteresis", "train.hysteresis"},
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
      {"lr-wsd-decay-iters", "schedule.decay_steps"},
      {"lr-wsd-decay-samples", "schedule.decay_samples"},
      {"lr-wsd-decay-style", "schedule.wsd_decay_style"},
      {"eval-interval", "evaluation.every_steps"},
      {"save", "checkpoint.dir"},
      {"save-interval", "checkpoint.every_steps"},
      {"save-retain-interval", "checkpoint.keep_every_steps"}};
  return settings;
}

// Returns the job setting that receives the option's value; null if there is no such setting.
const std::string* PlainSetting(const std::string& option) {
  for (const auto* settings : {&PlainSettings(), &PlainExpertSettings()}) {
    if (const auto found = settings->find(option); found != settings->end()) return &found->second;
  }
  return nullptr;
}

// Converts values that have another name in Trainyard; returns all other values unchanged.
std::string ValueOf(const std::string& value) {
  static const std::map<std::string, std::string> names = {
      {"RMSNorm", "rms_norm"}, {"LayerNorm", "layer_norm"},
      {"rmsnorm", "rms_norm"}, {"layernorm", "layer_norm"},
      {"WSD", "wsd"},          {"inverse-square-root", "inverse_square_root"}};
  const auto found = names.find(value);
  return found == names.end() ? value : found->second;
}

// Maps each option without a value to a job setting and the value to set.
const std::map<std::string, std::pair<std::string, std::string>>& Switches() {
  static const std::map<std::string, std::pair<std::string, std::string>> switches = {
      {"swiglu", {"model.activation", "swiglu"}},
      {"squared-relu", {"model.activation", "squared_relu"}},
      {"untie-embeddings-and-output-weights",
       {"model.untie_embeddings_and_output_weights", "true"}},
      {"disable-bias-linear", {"model.add_bias_linear", "false"}},
      {"add-qkv-bias", {"model.add_qkv_bias", "true"}},
      {"qk-layernorm", {"model.qk_layernorm", "true"}},
      {"use-rotary-position-embeddings", {"model.position_embedding_type", "rope"}},
      {"recompute-activations", {"layout.recompute", "selective"}},
      {"use-torch-fsdp2", {"layout.zero", "3"}},
      {"async-save", {"checkpoint.async", "true"}},
      {"sequence-parallel", {"layout.sequence_parallel", "true"}},
      {"use-distributed-optimizer", {"layout.zero", "1"}},
      {"bf16", {"train.precision", "bf16"}},
      {"fp16", {"train.precision", "fp16"}},
      {"reset-attention-mask", {"data.reset_attention_mask", "true"}},
      {"reset-position-ids", {"data.reset_position_ids", "true"}},
      {"eod-mask-loss", {"data.eod_mask_loss", "true"}},
      {"moe-router-enable-expert-bias", {"model.moe_router_enable_expert_bias", "true"}},
      {"moe-router-pre-softmax", {"model.moe_norm_topk_prob", "false"}},
      {"multi-latent-attention", {"model.multi_latent_attention", "true"}}};
  return switches;
}

// Options that need no note, because they request what trainyard-trainer always does or concern
// internals of Megatron-LM.
const std::set<std::string>& NeedlessOptions() {
  static const std::set<std::string> options = {"overlap-grad-reduce",
                                                "attention-backend",
                                                "grad-reduce-in-bf16",
                                                "empty-unused-memory-level",
                                                "log-params-norm",
                                                "data-impl",
                                                "no-query-key-layer-scaling",
                                                "deepspeed",
                                                "moe-grouped-gemm",
                                                "moe-permute-fusion",
                                                "moe-router-dtype",
                                                "overlap-param-gather",
                                                "use-mcore-models",
                                                "transformer-impl",
                                                "use-flash-attn",
                                                "use-flash-attn-v2",
                                                "attention-softmax-in-fp32",
                                                "apply-query-key-layer-scaling",
                                                "optimizer",
                                                "no-position-embedding",
                                                "distributed-backend",
                                                "accumulate-allreduce-grads-in-fp32",
                                                "no-masked-softmax-fusion",
                                                "no-bias-gelu-fusion",
                                                "no-bias-swiglu-fusion",
                                                "cross-entropy-loss-fusion",
                                                "tp-comm-overlap",
                                                "manual-gc",
                                                "num-workers",
                                                "data-cache-path",
                                                "dataloader-type",
                                                "log-throughput",
                                                "log-progress",
                                                "tensorboard-dir",
                                                "tensorboard-queue-size",
                                                "wandb-project",
                                                "wandb-exp-name",
                                                "wandb-save-dir",
                                                "timing-log-level",
                                                "log-timers-to-tensorboard",
                                                "ckpt-format",
                                                "no-load-optim",
                                                "no-load-rng",
                                                "deepspeed-config"};
  return options;
}

const std::set<std::string>& TokenizerOptions() {
  static const std::set<std::string> options = {"vocab-file", "merge-file", "tokenizer-type",
                                                "tokenizer-model", "split"};
  return options;
}

// Returns the value if it is a number of minutes of at most one day; 0 otherwise.
int64_t MinutesOf(const std::vector<std::string>& values) {
  constexpr int64_t kDay = 24 * 60;
  const int64_t minutes = values.size() == 1 ? WholeOf(values[0]).value_or(0) : 0;
  return minutes > 0 && minutes <= kDay ? minutes : 0;
}

bool IsOption(const std::string& word) { return absl::StartsWith(word, "--"); }

bool IsValueOf(const ScriptWord& word) {
  return !IsOption(word.text) && !absl::EndsWith(word.text, ".py");
}

class MegatronReader {
 public:
  explicit MegatronReader(JobDraft& draft) : draft_(draft) {}

  void Read(const ScriptCommand& words) {
    SetDefaults();
    for (size_t at = 0; at < words.size();) at = TakeWord(words, at);
    Finish(words.front().line);
  }

 private:
  // Sets Megatron-LM's defaults where they differ from trainyard-trainer's.
  void SetDefaults() {
    const std::map<std::string, std::string> defaults = {
        {"model.activation", "gelu_tanh"},
        {"model.normalization", "layer_norm"},
        {"model.add_bias_linear", "true"},
        {"model.untie_embeddings_and_output_weights", "false"},
        {"model.position_embedding_type", "learned_absolute"},
        {"layout.sequence_parallel", "false"},
        {"optimizer.adam_beta2", "0.999"},
        {"optimizer.weight_decay", "0.01"},
        {"optimizer.min_lr", "0"},
        {"schedule.kind", "linear"},
        {"train.precision", "fp32"}};
    for (const auto& [key, value] : defaults) draft_.Assume(key, value);
  }

  void Note(int line, const std::string& text) { draft_.Note(line, text); }

  // Reads the option at `at` and its values. Returns the position after the values.
  size_t TakeWord(const ScriptCommand& words, size_t at) {
    const ScriptWord& word = words[at++];
    if (!word.open.empty() && !IsOption(word.text)) {
      draft_.Refuse(word.line, absl::StrCat("the options in `", word.open,
                                            "` are not in the script; pass the script that sets "
                                            "them before this one, or --var NAME=VALUE"));
      return at;
    }
    if (!IsOption(word.text)) {
      if (!absl::EndsWith(word.text, ".py") && !absl::StartsWith(word.text, "python")) {
        Note(word.line, absl::StrCat("`", word.text, "` was not understood"));
      }
      return at;
    }
    std::string option = word.text.substr(2);
    std::vector<std::string> values;
    bool is_open = !word.open.empty();
    if (const size_t equals = option.find('='); equals != std::string::npos) {
      values.push_back(option.substr(equals + 1));
      option.resize(equals);
    }
    for (; at < words.size() && IsValueOf(words[at]); ++at) {
      values.push_back(words[at].text);
      is_open = is_open || !words[at].open.empty();
    }
    std::replace(option.begin(), option.end(), '_', '-');
    TakeOption(option, values, is_open, word.line);
    return at;
  }

  // `is_open`: a value is not in the script.
  void TakeOption(const std::string& option, const std::vector<std::string>& values, bool is_open,
                  int line) {
    draft_.At(line, absl::StrCat("--", option));
    const std::string text =
        absl::StrCat("--", option, values.empty() ? "" : " ", absl::StrJoin(values, " "));
    if (NeedlessOptions().contains(option)) {
      return draft_.LeaveOut(absl::StrCat("--", option),
                             "trainyard-trainer has no such setting and needs none");
    }
    if (TokenizerOptions().contains(option)) {
      return Note(line, absl::StrCat(text,
                                     ": the tokenizer is chosen by `trainyard data prepare`; "
                                     "set model.vocab_size"));
    }
    if (const auto found = Switches().find(option); found != Switches().end() && values.empty()) {
      draft_.Set(found->second.first, found->second.second);
      return;
    }
    const std::string* key = PlainSetting(option);
    if (is_open) {
      std::string advice = "pass the value with --var NAME=VALUE";
      if (key != nullptr) advice = absl::StrCat("set ", *key);
      if (option == "num-query-groups") advice = "set model.num_query_groups";
      return Note(line, absl::StrCat(text, ": the value is not in the script; ", advice));
    }
    if (key != nullptr && values.size() == 1) return TakePlain(*key, values[0], text, line);
    TakeOther(option, values, text, line);
  }

  void TakePlain(const std::string& key, const std::string& value, const std::string& text,
                 int line) {
    // Python reads 1_000 as a number.
    const std::optional<int64_t> whole = WholeOf(value);
    const std::optional<double> number = NumberOf(value);
    if (whole.has_value() && absl::StrContains(value, '_')) {
      return draft_.Set(key, absl::StrCat(*whole));
    }
    const bool is_integer = value.find_first_not_of("0123456789_") == std::string::npos;
    if (is_integer && number.has_value() && !whole.has_value()) {
      return Note(line, absl::StrCat(text, ": needs more than 64 bits; set ", key));
    }
    draft_.Set(key, ValueOf(value));
  }

  void TakeOther(const std::string& option, const std::vector<std::string>& values,
                 const std::string& text, int line) {
    if (option == "data-path" && !values.empty()) {
      TakeData(values);
    } else if (option == "group-query-attention" && values.empty()) {
      has_groups_ = true;
    } else if (option == "num-query-groups" && values.size() == 1) {
      groups_ = values[0];
      groups_line_ = line;
    } else if (option == "rampup-batch-size" && values.size() == 3) {
      TakePlain("train.rampup_batch_start", values[0], text, line);
      TakePlain("train.rampup_batch_increment", values[1], text, line);
      TakePlain("train.rampup_batch_samples", values[2], text, line);
    } else if (option == "num-key-value-heads" && values.size() == 1) {
      // Megatron-DeepSpeed's name. The option needs no switch there.
      TakePlain("model.num_query_groups", values[0], text, line);
    } else if (option == "load" && values.size() == 1) {
      load_ = values[0];
    } else if (absl::EndsWith(option, "-dropout") && values.size() == 1) {
      dropout_options_.insert(option);
      if (NumberOf(values[0]).value_or(1) != 0) {
        Note(line,
             absl::StrCat(
                 text,
                 ": trainyard-trainer does not support dropout, so the job trains without it"));
      }
    } else if (option == "distributed-timeout-minutes" && MinutesOf(values) > 0) {
      draft_.Set("train.distributed_timeout_s", absl::StrCat(60 * MinutesOf(values)));
    } else if (option == "eval-iters" && values.size() == 1) {
      evaluation_steps_ = WholeOf(values[0]).value_or(0);
    } else if (option == "mock-data") {
      Note(line, "--mock-data: synthetic data is not supported; set data.path");
    } else if (option == "use-rope-scaling" && values.empty()) {
      draft_.Assume("model.rope_scaling_factor", "8");
    } else if (absl::StartsWith(option, "fp8")) {
      TakeFp8(option, values, text, line);
    } else {
      Note(line, absl::StrCat(text, ": not understood"));
    }
  }

  // Megatron-LM's default recipe is delayed scaling.
  void TakeFp8(const std::string& option, const std::vector<std::string>& values,
               const std::string& text, int line) {
    const std::string value = values.size() == 1 ? values[0] : "";
    draft_.Set("train.precision", "bf16");
    if (option == "fp8-hybrid" || (option == "fp8-format" && value == "hybrid")) {
      draft_.Assume("train.fp8", "delayed");
    } else if (option == "fp8-recipe" && (value == "delayed" || value == "tensorwise")) {
      draft_.Set("train.fp8", value == "delayed" ? "delayed" : "current");
    } else if (option == "fp8-amax-history-len") {
      draft_.Set("train.fp8_amax_history_len", value);
    } else if (option == "fp8-amax-compute-algo") {
      draft_.Set("train.fp8_amax_compute_algo", value);
    } else {
      Note(line, absl::StrCat(text,
                              ": not converted; `trainyard explain train.fp8` lists what "
                              "trainyard-trainer can do in FP8"));
    }
  }

  // Reads either one path, or a list in which weights and paths alternate.
  void TakeData(const std::vector<std::string>& values) {
    if (values.size() == 1) {
      draft_.Set("data.path", values[0]);
    } else {
      std::vector<std::string> entries;
      for (size_t i = 0; i + 1 < values.size(); i += 2) {
        entries.push_back(absl::StrCat(values[i], " ", values[i + 1]));
      }
      draft_.SetList("data.blend", entries);
    }
    draft_.Set("data.format", "megatron");
  }

  void Finish(int line) {
    draft_.At(0, "");
    if (draft_.Value("model.position_embedding_type") != "learned_absolute") {
      draft_.EraseUnused("model.max_position_embeddings", "--max-position-embeddings",
                         kNoPositionLimit);
    }
    const std::optional<int64_t> hidden = draft_.Whole("model.hidden_size");
    if (!draft_.Has("model.ffn_hidden_size") && hidden.has_value() && *hidden <= 1048576) {
      draft_.Set("model.ffn_hidden_size", absl::StrCat(4 * *hidden));
    }
    EraseUnusedLossScale();
    FinishGroups();
    FinishExperts(line);
    if (draft_.Value("schedule.kind") == "wsd") {
      draft_.Assume("schedule.wsd_decay_style", "exponential");
    }
    // If both directories are equal, set nothing, because later attempts resume from checkpoint.dir
    // anyway.
    draft_.At(0, "--load");
    if (load_ != draft_.Value("checkpoint.dir")) draft_.Set("checkpoint.resume_from", load_);
    draft_.At(0, "--eval-iters");
    const int64_t batch = draft_.Whole("train.global_batch").value_or(0);
    if (const std::optional<int64_t> samples = PositiveProduct(evaluation_steps_, batch)) {
      draft_.Set("evaluation.samples", absl::StrCat(*samples));
    }
    for (const char* option : {"attention-dropout", "hidden-dropout"}) {
      if (dropout_options_.contains(option)) continue;
      Note(line, absl::StrCat(
                     "--", option,
                     " is not set, so Megatron-LM uses 0.1; "
                     "trainyard-trainer does not support dropout, so the job trains without it"));
    }
  }

  // Scripts often contain these options without --fp16. Megatron-LM then ignores these options.
  void EraseUnusedLossScale() {
    if (draft_.Value("train.precision") == "fp16") return;
    for (const char* name :
         {"initial_loss_scale", "min_loss_scale", "loss_scale_window", "hysteresis"}) {
      draft_.EraseUnused(absl::StrCat("train.", name),
                         absl::StrCat("--", absl::StrReplaceAll(name, {{"_", "-"}})),
                         "the loss is scaled only with --fp16");
    }
  }

  // Megatron-LM ignores the number of query groups unless --group-query-attention is given.
  // Published commands often omit this option. Grouped queries are therefore assumed if a number is
  // given.
  // trainyard-trainer has no biases in models with experts or latent attention.
  void FinishExperts(int line) {
    const bool lacks_topk = draft_.Has("model.num_experts") && !draft_.Has("model.moe_router_topk");
    draft_.At(0, "default of Megatron-LM");
    if (lacks_topk) draft_.Set("model.moe_router_topk", "2");
    draft_.At(0, "");
    TurnOffBiasesOfExperts(draft_, line,
                           "--disable-bias-linear is not set, so Megatron-LM adds biases");
    // These biases include those of --add-qkv-bias.
    if (draft_.Value("model.add_bias_linear") == "true") draft_.Erase("model.add_qkv_bias");
  }

  void FinishGroups() {
    draft_.At(groups_line_, groups_line_ > 0 ? "--num-query-groups" : "--group-query-attention");
    if (has_groups_) return draft_.Set("model.num_query_groups", groups_.empty() ? "1" : groups_);
    if (groups_.empty()) return;
    draft_.Set("model.num_query_groups", groups_);
    const std::string heads = draft_.Value("model.num_attention_heads");
    if (groups_ == heads) return;
    Note(groups_line_,
         absl::StrCat("--num-query-groups ", groups_,
                      ": without --group-query-attention, Megatron-LM ignores this option and "
                      "gives every head its own keys and values. The job uses ",
                      groups_,
                      " groups; to train the same model as Megatron-LM, set model.num_query_groups",
                      heads.empty() ? "" : " ", heads));
  }

  JobDraft& draft_;
  bool has_groups_ = false;
  std::string groups_;  // Empty: not given.
  int groups_line_ = 0;
  std::string load_;
  int64_t evaluation_steps_ = 0;
  std::set<std::string> dropout_options_;
};

}  // namespace

bool IsMegatronOption(const std::string& option) {
  static const std::set<std::string> others = {
      "data-path",  "group-query-attention", "num-query-groups", "rampup-batch-size", "load",
      "eval-iters", "use-rope-scaling",      "mock-data"};
  return PlainSetting(option) != nullptr || Switches().contains(option) ||
         NeedlessOptions().contains(option) || TokenizerOptions().contains(option) ||
         others.contains(option) || absl::EndsWith(option, "-dropout") ||
         absl::StartsWith(option, "fp8");
}

void ReadMegatronWords(const ScriptCommand& words, JobDraft& draft) {
  MegatronReader(draft).Read(words);
}

}  // namespace trainyard::cli
