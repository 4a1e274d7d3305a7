// Reads the YAML of GPT-NeoX, which has Megatron-LM's options under other names, together with
// DeepSpeed's settings.
#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/convert/config_readers.h"
#include "cli/convert/deepspeed_settings.h"
#include "cli/convert/expert_settings.h"
#include "cli/convert/translation.h"

namespace trainyard::cli {
namespace {

constexpr char kNoDropout[] =
    "trainyard-trainer does not support dropout, so the job trains without it";

void AddNeoxModel(Translations& table) {
  table["num_layers"] = Whole("model.num_layers");
  table["hidden_size"] = Whole("model.hidden_size");
  table["intermediate_size"] = Whole("model.ffn_hidden_size");
  table["num_attention_heads"] = Whole("model.num_attention_heads");
  table["num_kv_heads"] = Whole("model.num_query_groups");
  table["seq_length"] = Whole("train.seq_length");
  table["max_position_embeddings"] = Whole("model.max_position_embeddings");
  table["padded_vocab_size"] = Whole("model.vocab_size");
  table["norm"] =
      Word("model.normalization", {{"layernorm", "layer_norm"}, {"rmsnorm", "rms_norm"}});
  table["layernorm_epsilon"] = Number("model.norm_epsilon");
  table["rms_norm_epsilon"] = Number("model.norm_epsilon");
  table["pos_emb"] =
      Word("model.position_embedding_type", {{"rotary", "rope"}, {"learned", "learned_absolute"}});
  table["rotary_pct"] = Number("model.rotary_percent");
  table["rotary_emb_base"] = Number("model.rotary_base");
  table["no_weight_tying"] = Switch("model.untie_embeddings_and_output_weights");
  table["gpt_j_residual"] = Switch("model.parallel_residual");
  table["gpt_j_tied"] =
      NoteUnlessOff("tied norms are not supported; every branch of a block has its own norm");
  table["activation"] = Word("model.activation", {{"gelu", "gelu"}, {"swiglu", "swiglu"}});
  table["use_bias_in_attn_linear"] = Silent();
  table["use_bias_in_mlp"] = Switch("model.add_bias_linear");
  table["use_qk_layernorm"] =
      NoteUnlessOff("GPT-NeoX's norm differs from the norm of model.qk_layernorm");
  table["init_method"] = Word("", {{"small_init", ""}, {"normal", ""}});
  table["output_layer_init_method"] = Word("", {{"wang_init", ""}, {"scaled_normal", ""}});
  table["init_method_std"] = Number("model.init_method_std");
  table["output_layer_parallelism"] = Silent();
  table["attention_config[]"] = Silent();
  table["attention_config.*"] =
      NoteOnly("only dense attention is supported; model.window_size sets a sliding window");
  table["hidden_dropout"] = NoteUnlessOff(kNoDropout);
  table["attention_dropout"] = NoteUnlessOff(kNoDropout);
}

void AddNeoxRun(Translations& table) {
  table["pipe_parallel_size"] = Whole("layout.pp");
  table["model_parallel_size"] = Whole("layout.tp");
  table["context_parallel_size"] = Whole("layout.cp");
  table["sequence_parallel"] = Switch("layout.sequence_parallel");
  table["checkpoint_activations"] = Switch("layout.recompute", "full", "none");
  table["train_iters"] = Whole("train.steps");
  table["lr_decay_iters"] = Whole("schedule.decay_steps");
  table["lr_decay_style"] =
      Word("schedule.kind", {{"cosine", "cosine"}, {"linear", "linear"}, {"constant", "constant"}});
  table["warmup"] = Number("schedule.warmup_fraction");
  table["min_lr"] = Number("optimizer.min_lr");
  table["weight_decay"] = Number("optimizer.weight_decay");
  table["seed"] = Whole("train.seed");
  table["precision"] = Word("train.precision", {{"bfloat16", "bf16"}, {"fp32", "fp32"}});
  table["log_interval"] = Whole("train.log_every_steps");
  table["eval_interval"] = Whole("evaluation.every_steps");
  table["eval_iters"] = NoteOnly(
      "this is a number of batches; set evaluation.samples to this number times "
      "train.global_batch");
  table["save"] = Text("checkpoint.dir");
  table["load"] = Text("");
  table["save_interval"] = Whole("checkpoint.every_steps");
  table["checkpoint_factor"] = Whole("checkpoint.every_steps");
  table["keep_last_n_checkpoints"] = Whole("checkpoint.keep_last");
  table["data_path"] = Text("data.path");
  table["train_data_paths[]"] = Text("");
  table["train_data_weights[]"] = Number("");
  table["valid_data_paths[]"] = NoteOnly("list the validation data sets in evaluation.sets");
  table["test_data_paths[]"] =
      NoteOnly("test splits are not supported; list the data sets in evaluation.sets");
  table["hostfile"] = NoteOnly("the controller chooses the nodes");
}

void AddNeoxRest(Translations& table) {
  for (const char* name :
       {"tokenizer_type", "vocab_file", "merge_file", "make_vocab_size_divisible_by"}) {
    table[name] =
        NoteOnly("the tokenizer is chosen by `trainyard data prepare`; set model.vocab_size");
  }
  // Internals and output paths of GPT-NeoX, which need no note.
  for (const char* name : {"data_impl",
                           "split",
                           "num_workers",
                           "distributed_backend",
                           "checkpoint_num_layers",
                           "partition_activations",
                           "synchronize_each_layer",
                           "contiguous_checkpointing",
                           "scaled_upper_triang_masked_softmax_fusion",
                           "scaled_masked_softmax_fusion",
                           "bias_gelu_fusion",
                           "rope_fusion",
                           "layernorm_fusion",
                           "rmsnorm_fusion",
                           "tensorboard_dir",
                           "log_dir",
                           "use_wandb",
                           "wandb_group",
                           "wandb_team",
                           "wandb_project",
                           "wandb_host",
                           "clip_grad",
                           "launcher",
                           "deepspeed_mpi",
                           "attention_softmax_in_fp32",
                           "log_optimizer_states",
                           "log_grad_norm",
                           "optimizer_type",
                           "checkpoint.*",
                           "checkpoint_scale",
                           "mmap_warmup",
                           "gradient_accumulation_fusion"}) {
    table[name] = Silent();
  }
}

const Translations& NeoxTable() {
  static const Translations table = [] {
    Translations all = DeepSpeedSettings();
    AddNeoxModel(all);
    AddNeoxExperts(all);
    AddNeoxRun(all);
    AddNeoxRest(all);
    return all;
  }();
  return table;
}

// Replaces hyphens by underscores, because "num-layers" and "num_layers" are the same key in
// GPT-NeoX.
absl::StatusOr<SourceTree> WithUnderscores(const SourceTree& tree) {
  SourceTree renamed;
  for (SourceValue value : tree.values()) {
    std::replace(value.path.begin(), value.path.end(), '-', '_');
    // The call cannot fail, because the original tree was within the limits.
    renamed.Add(std::move(value)).IgnoreError();
  }
  return renamed;
}

class NeoxReader {
 public:
  NeoxReader(const SourceTree& tree, JobDraft& draft) : tree_(tree), draft_(draft) {}

  void Read() {
    SetDefaults();
    SetDeepSpeedDefaults(draft_, /*is_decay_filled=*/false);
    TakeDeepSpeedSettings(tree_, draft_);
    ReadModel();
    ReadData();
    ReadPrecision();
    const std::string load = tree_.Text("load");
    if (!load.empty() && load != draft_.Value("checkpoint.dir")) {
      draft_.Note(tree_.Line("load"),
                  absl::StrCat("load: ", load,
                               ": GPT-NeoX checkpoints are not supported; `trainyard ckpt import` "
                               "reads Hugging Face checkpoints"));
    }
  }

 private:
  // Sets GPT-NeoX's defaults where they differ from trainyard-trainer's.
  void SetDefaults() {
    const std::map<std::string, std::string> defaults = {
        {"model.activation", "gelu"},
        {"model.normalization", "layer_norm"},
        {"model.add_bias_linear", "true"},
        {"model.untie_embeddings_and_output_weights", "false"},
        {"model.position_embedding_type", "learned_absolute"},
        {"optimizer.weight_decay", "0.1"},
        {"optimizer.clip_grad", "1.0"},
        {"optimizer.min_lr", "0"},
        {"schedule.kind", "linear"},
        {"schedule.warmup_fraction", "0.01"},
        {"layout.zero", "0"},
        {"layout.sequence_parallel", "false"}};
    for (const auto& [key, value] : defaults) draft_.Assume(key, value);
  }

  void ReadModel() {
    const double layers = draft_.Number("model.num_layers").value_or(0);
    const std::optional<int64_t> hidden = draft_.Whole("model.hidden_size");
    // GPT-NeoX's fused kernel uses the tanh approximation of gelu.
    if (tree_.IsTrue("bias_gelu_fusion") && draft_.Value("model.activation") == "gelu") {
      draft_.Set("model.activation", "gelu_tanh");
    }
    if (draft_.Value("model.position_embedding_type") == "rope") {
      draft_.EraseUnused("model.max_position_embeddings", "max_position_embeddings",
                         kNoPositionLimit);
    }
    ReadNeoxExperts(tree_, draft_);
    if (hidden.has_value() && 0 < *hidden && *hidden <= 1048576) ReadWidths(*hidden, layers);
    if (!draft_.Has("model.vocab_size")) {
      draft_.Note(0,
                  "the vocabulary size depends on the tokenizer; set model.vocab_size (50432 for "
                  "the 20B model, which is 50,257 plus GPT-NeoX's padding)");
    }
  }

  // The standard deviations of the initial weights: small_init uses sqrt(2 / (5 hidden)), and
  // wang_init uses 2 / (layers sqrt(hidden)).
  void ReadWidths(int64_t hidden, double layers) {
    const double width = static_cast<double>(hidden);
    if (!draft_.Has("model.ffn_hidden_size")) {
      draft_.Set("model.ffn_hidden_size", absl::StrCat(4 * hidden));
      if (draft_.Value("model.activation") == "swiglu") {
        draft_.Note(
            tree_.Line("activation"),
            "activation: the width of swiglu's matrices depends on the release of GPT-NeoX; set "
            "model.ffn_hidden_size");
      }
    }
    if (tree_.Text("init_method") == "small_init") {
      draft_.Set("model.init_method_std", DraftNumber(std::sqrt(2 / (5 * width))));
    }
    if (tree_.Text("output_layer_init_method") == "wang_init" && layers > 0) {
      draft_.Set("model.output_layer_init_method_std", DraftNumber(2 / layers / std::sqrt(width)));
    }
  }

  void ReadData() {
    const std::vector<SourceValue> paths = tree_.FindAll("train_data_paths[]");
    const std::vector<SourceValue> weights = tree_.FindAll("train_data_weights[]");
    std::vector<std::string> blend;
    for (size_t i = 0; i < paths.size(); ++i) {
      const std::string weight = i < weights.size() ? weights[i].text : "1";
      blend.push_back(absl::StrCat(weight, " ", paths[i].text));
    }
    if (!blend.empty()) draft_.SetList("data.blend", blend);
    if (!blend.empty() || draft_.Has("data.path")) draft_.Set("data.format", "megatron");
  }

  // GPT-NeoX states the precision either by its key "precision" or by DeepSpeed's sections.
  void ReadPrecision() {
    if (tree_.Text("precision") == "fp16") draft_.Set("train.precision", "fp16");
  }

  const SourceTree& tree_;
  JobDraft& draft_;
};

absl::Status ReadNeox(const SourceTree& tree, JobDraft& draft) {
  NeoxReader(tree, draft).Read();
  return absl::OkStatus();
}

}  // namespace

ConfigReader NeoxFormat() { return {WithUnderscores, NeoxTable, ReadNeox}; }

}  // namespace trainyard::cli
