// Reads OLMo's configuration, in YAML or Python.
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/convert/config_readers.h"
#include "cli/convert/expert_settings.h"
#include "cli/convert/translation.h"

namespace trainyard::cli {
namespace {

constexpr char kOlmoDropout[] =
    "trainyard-trainer does not support dropout, so the job trains without it";

void AddOlmoModel(Translations& table) {
  table["model.d_model"] = Whole("model.hidden_size");
  table["model.n_heads"] = Whole("model.num_attention_heads");
  table["model.n_kv_heads"] = Whole("model.num_query_groups");
  table["model.n_layers"] = Whole("model.num_layers");
  table["model.mlp_ratio"] = Number("");
  table["model.mlp_hidden_size"] = Whole("");
  table["model.vocab_size"] = Whole("model.vocab_size");
  table["model.embedding_size"] = Whole("model.vocab_size");
  table["model.max_sequence_length"] = Whole("train.seq_length");
  table["model.rope_theta"] = Number("model.rotary_base");
  table["model.rope"] = Switch("model.position_embedding_type", "rope", "learned_absolute");
  table["model.alibi"] = NoteUnlessOff(
      "ALiBi is not supported; the supported position embeddings are rope and learned_absolute");
  table["model.weight_tying"] =
      Switch("model.untie_embeddings_and_output_weights", "false", "true");
  table["model.multi_query_attention"] = Switch("model.num_query_groups", "1", "");
  table["model.include_bias"] = Switch("model.add_bias_linear");
  table["model.layer_norm_type"] =
      Word("model.normalization",
           {{"default", "layer_norm"}, {"low_precision", "layer_norm"}, {"rms", "rms_norm"}});
  table["model.layer_norm_with_affine"] = Switch("model.norm_weights");
  table["model.layer_norm_eps"] = Number("model.norm_epsilon");
  table["model.bias_for_layer_norm"] = Silent();
  table["model.attention_layer_norm"] = NoteUnlessOff(
      "OLMo's norm spans all heads, but the norm of model.qk_layernorm spans one head");
  table["model.activation_type"] =
      Word("model.activation", {{"swiglu", "swiglu"}, {"gelu", "gelu"}});
  table["model.block_type"] = Word("", {{"sequential", ""}, {"llama", ""}, {"moe", ""}});
  table["model.clip_qkv"] = NoteOnly("queries, keys and values are not clipped");
  table["model.init_std"] = Number("model.init_method_std");
  table["model.init_fn"] = Word("", {{"normal", ""}});
  for (const char* name : {"attention_dropout", "residual_dropout", "embedding_dropout"}) {
    table[absl::StrCat("model.", name)] = NoteUnlessOff(kOlmoDropout);
  }
  for (const char* name : {"flash_attention", "attention_type", "init_device", "eos_token_id",
                           "pad_token_id", "precision", "attention_layer_norm_with_affine",
                           "init_cutoff_factor", "rope_full_precision"}) {
    table[absl::StrCat("model.", name)] = Silent();
  }
  table["model.norm_after"] = NoteUnlessOff("norms stand before attention and feed-forward layers");
  table["model.scale_logits"] = NoteUnlessOff("logits are not scaled");
}

void AddOlmoRun(Translations& table) {
  table["run_name"] = Text("name");
  table["seed"] = Whole("train.seed");
  table["optimizer.name"] = Word("", {{"adamw", ""}});
  table["optimizer.learning_rate"] = Number("optimizer.lr");
  table["optimizer.weight_decay"] = Number("optimizer.weight_decay");
  table["optimizer.betas[]"] = Number("");
  table["optimizer.eps"] = Number("optimizer.adam_eps");
  table["optimizer.metrics_log_interval"] = Silent();
  table["optimizer.decay_norm_and_bias"] = NoteUnlessOff("weight decay applies only to matrices");
  table["optimizer.decay_embeddings"] = Switch("");
  table["scheduler.name"] =
      Word("schedule.kind", {{"cosine_with_warmup", "cosine"},
                             {"linear_with_warmup", "linear"},
                             {"inverse_sqrt_with_warmup", "inverse_square_root"}});
  table["scheduler.units"] = Word("", {{"steps", ""}, {"tokens", ""}});
  table["scheduler.t_warmup"] = Whole("");
  table["scheduler.t_max"] = Whole("");
  table["scheduler.alpha_f"] = Number("");
  table["scheduler.warmup_min_lr"] = NoteUnlessOff("the warm-up starts at 0");
  table["scheduler.*"] =
      NoteOnly("not supported; gradients are clipped to the constant norm optimizer.clip_grad");
  table["max_duration"] = Text("");
  table["global_train_batch_size"] = Whole("train.global_batch");
  table["device_train_microbatch_size"] = Whole("layout.micro_batch");
  table["precision"] = Word("", {{"amp_bf16", ""}, {"bf16", ""}, {"amp_fp16", ""}, {"fp32", ""}});
  table["max_grad_norm"] = Number("optimizer.clip_grad");
  table["max_grad_norm_ratio"] =
      NoteOnly("to limit gradients relative to weights, set optimizer.adaptive_clip");
  table["activation_checkpointing"] =
      Word("layout.recompute", {{"whole_layer", "full"}, {"fine_grained", "selective"}});
  for (const char* section : {"fsdp", "fsdp_config"}) {
    table[absl::StrCat(section, ".sharding_strategy")] =
        Word("layout.zero", {{"FULL_SHARD", "3"},
                             {"SHARD_GRAD_OP", "2"},
                             {"NO_SHARD", "0"},
                             {"HYBRID_SHARD", "3"},
                             {"_HYBRID_SHARD_ZERO2", "2"}});
    table[absl::StrCat(section, ".hybrid_sharding_num_model_replicas")] =
        NoteOnly("set layout.zero_size to the number of ranks that share one replica");
    table[absl::StrCat(section, ".*")] = Silent();
  }
}

void AddOlmoRest(Translations& table) {
  table["save_folder"] = Text("checkpoint.dir");
  table["save_interval"] = Whole("checkpoint.every_steps");
  table["save_num_checkpoints_to_keep"] = Whole("");
  table["softmax_auxiliary_loss"] =
      NoteUnlessOff("the squared logarithm of the softmax's denominator is not part of the loss");
  table["auxiliary_loss_multiplier"] = Silent();
  table["fused_loss"] = Silent();
  table["load_path"] = NoteOnly(
      "OLMo checkpoints are not supported; `trainyard ckpt import` reads Hugging Face checkpoints");
  table["eval_interval"] = Whole("evaluation.every_steps");
  table["evaluators.*"] = NoteOnly(
      "question-answering tasks are not supported; list prepared data sets in evaluation.sets");
  table["data.paths.*"] = NoteOnly(
      "the tokens come from files that `trainyard data prepare` writes; set "
      "data.path or data.blend");
  table["data.datasets.*"] = table["data.paths.*"];
  table["tokenizer.*"] = NoteOnly(
      "`trainyard data prepare` chooses the tokenizer; set data.path to its output directory");
  table["time_limit"] = NoteOnly("set time_limit in seconds, such as time_limit: 170000s");
  for (const char* name : {"dry_run",
                           "wandb.*",
                           "compile.*",
                           "speed_monitor.*",
                           "data.*",
                           "save_overwrite",
                           "remote_save_folder",
                           "save_interval_unsharded",
                           "save_num_unsharded_checkpoints_to_keep",
                           "eval_subset_num_batches",
                           "device_eval_batch_size",
                           "distributed_strategy",
                           "ddp.*",
                           "single.*",
                           "gen1_gc_interval",
                           "sharded_checkpointer",
                           "save_interval_ephemeral",
                           "console_log_interval",
                           "eval_on_load",
                           "try_load_latest_save"}) {
    table[name] = Silent();
  }
}

const Translations& OlmoTable() {
  static const Translations table = [] {
    Translations all;
    AddOlmoModel(all);
    AddOlmoExperts(all);
    AddOlmoRun(all);
    AddOlmoRest(all);
    return all;
  }();
  return table;
}

class OlmoReader {
 public:
  OlmoReader(const SourceTree& tree, JobDraft& draft) : tree_(tree), draft_(draft) {}

  void Read() {
    SetDefaults();
    ReadModel();
    ReadPrecision();
    ReadSchedule();
    ReadDuration();
    if (tree_.Text("optimizer.decay_embeddings") == "false") {
      draft_.Note(tree_.Line("optimizer.decay_embeddings"),
                  "optimizer.decay_embeddings: false: weight decay also applies to the embedding");
    }
    if (tree_.Has("fsdp") || tree_.Has("fsdp_config")) draft_.Assume("layout.zero", "3");
    const int64_t keep = tree_.Whole("save_num_checkpoints_to_keep", 0);
    if (keep > 0) draft_.Set("checkpoint.keep_last", absl::StrCat(keep));
    // A negative number keeps all checkpoints.
    if (keep < 0) draft_.Set("checkpoint.keep_last", "100000");
  }

 private:
  // Sets OLMo's defaults where they differ from trainyard-trainer's.
  void SetDefaults() {
    const std::map<std::string, std::string> defaults = {
        {"model.normalization", "layer_norm"},
        {"model.add_bias_linear", "true"},
        {"model.untie_embeddings_and_output_weights", "false"},
        {"model.position_embedding_type", "learned_absolute"},
        {"optimizer.weight_decay", "0.01"},
        {"optimizer.adam_eps", "1e-5"},
        {"optimizer.clip_grad", "0"},
        {"schedule.kind", "cosine"}};
    for (const auto& [key, value] : defaults) draft_.Assume(key, value);
  }

  void ReadModel() {
    // The number of rows of the embedding, including padding.
    draft_.Set("model.vocab_size", tree_.Text("model.embedding_size"));
    if (draft_.Value("model.position_embedding_type") != "rope") {
      draft_.Set("model.max_position_embeddings", draft_.Value("train.seq_length"));
    }
    ReadWidth();
    ReadOlmoExperts(tree_, draft_);
    const bool has_weights = draft_.Value("model.norm_weights") != "false";
    if (has_weights && draft_.Value("model.normalization") == "layer_norm" &&
        tree_.Text("model.bias_for_layer_norm") == "false") {
      draft_.Note(tree_.Line("model.bias_for_layer_norm"),
                  "model.bias_for_layer_norm: a layer_norm with weights always has biases");
    }
  }

  // OLMo states the feed-forward width before the gate. swiglu halves this width.
  void ReadWidth() {
    const bool is_gated = draft_.Value("model.activation") != "gelu";
    const double hidden = draft_.Number("model.hidden_size").value_or(0);
    double width = NumberOf(tree_.Text("model.mlp_hidden_size")).value_or(0);
    const std::string path = width > 0 ? "model.mlp_hidden_size" : "model.mlp_ratio";
    if (width == 0) width = NumberOf(tree_.Text("model.mlp_ratio")).value_or(4) * hidden;
    if (is_gated) width /= 2;
    if (width == std::floor(width) && 0 < width && width <= 1048576) {
      return draft_.Set("model.ffn_hidden_size", DraftNumber(width));
    }
    draft_.Note(tree_.Line(path),
                NoValueNote(path, tree_.Text(path),
                            absl::StrCat("gives a feed-forward width of ", width,
                                         is_gated ? " after swiglu halves it" : "",
                                         "; the width must be a whole number up to 1048576"),
                            "model.ffn_hidden_size (11008 in OLMo 7B)"));
  }

  void ReadPrecision() {
    const std::string precision = tree_.Text("precision");
    if (precision == "amp_fp16") return draft_.Set("train.precision", "fp16");
    draft_.Set("train.precision", precision.empty() || precision == "fp32" ? "fp32" : "bf16");
  }

  void ReadSchedule() {
    const std::vector<SourceValue> betas = tree_.FindAll("optimizer.betas[]");
    if (betas.size() == 2) {
      draft_.Set("optimizer.adam_beta1", betas[0].text);
      draft_.Set("optimizer.adam_beta2", betas[1].text);
    }
    const bool has_schedule = tree_.Has("scheduler");
    if (!has_schedule) {
      draft_.Note(0,
                  "no scheduler is configured, so the job uses OLMo's default: 100 steps of "
                  "warm-up, then a cosine "
                  "decay to a tenth of the learning rate");
    }
    const std::string units = tree_.Text("scheduler.units") == "tokens" ? "tokens" : "steps";
    const int64_t warmup = tree_.Whole("scheduler.t_warmup", 100);
    draft_.Set(absl::StrCat("schedule.warmup_", units), absl::StrCat(warmup));
    if (const std::optional<int64_t> end = WholeOf(tree_.Text("scheduler.t_max"))) {
      draft_.Set(absl::StrCat("schedule.decay_", units), absl::StrCat(*end));
    }
    const double last = NumberOf(tree_.Text("scheduler.alpha_f")).value_or(0.1);
    draft_.Set("optimizer.min_lr", DraftNumber(last * draft_.Number("optimizer.lr").value_or(0)));
  }

  // "2e12T" is a number of tokens, "300000ba" and 300000 are steps, "1ep" is a number of passes
  // over the data.
  void ReadDuration() {
    const std::string text = tree_.Text("max_duration");
    if (text.empty()) return;
    const bool is_tokens = absl::EndsWith(text, "T");
    const bool is_batches = absl::EndsWith(text, "ba");
    const std::string digits = text.substr(0, text.size() - (is_tokens ? 1 : is_batches ? 2 : 0));
    if (const std::optional<int64_t> amount = WholeOf(digits)) {
      return draft_.Set(is_tokens ? "train.tokens" : "train.steps", absl::StrCat(*amount));
    }
    draft_.Note(tree_.Line("max_duration"),
                NoValueNote("max_duration", text, "is neither steps nor tokens",
                            "train.steps, train.samples or train.tokens"));
  }

  const SourceTree& tree_;
  JobDraft& draft_;
};

absl::Status ReadOlmo(const SourceTree& tree, JobDraft& draft) {
  OlmoReader(tree, draft).Read();
  return absl::OkStatus();
}

}  // namespace

ConfigReader OlmoFormat() { return {SameTree, OlmoTable, ReadOlmo}; }

}  // namespace trainyard::cli
