// Reads the YAML of NeMo 1, which combines PyTorch Lightning's trainer with Megatron-LM's settings.
// The Python code of NeMo 2 has the same settings, most of them at other paths.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/convert/config_readers.h"
#include "cli/convert/nemo_classes.h"
#include "cli/convert/translation.h"

namespace trainyard::cli {
namespace {

constexpr char kNemoDropout[] =
    "trainyard-trainer does not support dropout, so the job trains without it";
constexpr char kNemoTokenizer[] =
    "the tokenizer is chosen by `trainyard data prepare`; set model.vocab_size";

// The sections of NeMo's launcher.
void AddNemoLauncher(Translations& table) {
  table["run.name"] = Text("name");
  table["run.results_dir"] =
      NoteOnly("set checkpoint.dir; the controller stores metrics and output");
  table["run.time_limit"] = NoteOnly("set time_limit, such as time_limit: 90m");
  table["run.dependency"] = NoteOnly("set `after` to the name of another job");
  table["run.*"] = Silent();
  table["defaults.*"] = NoteOnly("the files of this list are not read; pass them too");
  table["hydra.*"] = Silent();
}

void AddNemoTrainer(Translations& table) {
  table["name"] = Text("name");
  table["resume.*"] = NoteOnly("NeMo checkpoints are not supported");
  table["log.*"] = Silent();
  table["performance_mode"] = Silent();
  AddNemoLauncher(table);
  table["trainer.devices"] = Whole("resources.slots_per_node");
  table["trainer.num_nodes"] = Whole("resources.nodes");
  table["trainer.precision"] = Text("");
  table["trainer.max_steps"] = Whole("train.steps");
  table["trainer.max_time"] =
      NoteOnly("set time_limit; its time counts only while the job has slots");
  table["trainer.max_epochs"] = Silent();
  table["trainer.log_every_n_steps"] = Whole("train.log_every_steps");
  table["trainer.val_check_interval"] = Whole("evaluation.every_steps");
  table["trainer.limit_val_batches"] = Whole("");
  table["trainer.gradient_clip_val"] = Number("optimizer.clip_grad");
  table["trainer.accumulate_grad_batches"] = Silent();
  table["trainer.accelerator"] = Word("resources.device", {{"gpu", "gpu"}, {"cpu", "cpu"}});
  table["trainer.*"] = Silent();
  table["exp_manager.checkpoint_callback_params.every_n_train_steps"] =
      Whole("checkpoint.every_steps");
  table["exp_manager.checkpoint_callback_params.save_top_k"] = Whole("checkpoint.keep_best");
  table["exp_manager.explicit_log_dir"] =
      NoteOnly("set checkpoint.dir; the controller stores metrics and output");
  table["exp_manager.exp_dir"] = table["exp_manager.explicit_log_dir"];
  table["exp_manager.*"] = Silent();
  table["restore_from_path"] = NoteOnly(
      "NeMo checkpoints are not supported; `trainyard ckpt import` reads Hugging Face checkpoints");
}

void AddNemoExperts(Translations& table) {
  const std::map<std::string, std::string> wholes = {
      {"num_moe_experts", "model.num_experts"},
      {"moe_router_topk", "model.moe_router_topk"},
      {"moe_ffn_hidden_size", "model.moe_ffn_hidden_size"},
      {"moe_shared_expert_intermediate_size", "model.moe_shared_expert_intermediate_size"},
      {"expert_model_parallel_size", "layout.ep"},
      {"expert_tensor_parallel_size", "layout.etp"}};
  for (const auto& [name, key] : wholes) table[absl::StrCat("model.", name)] = Whole(key);
  table["model.moe_aux_loss_coeff"] = Number("model.moe_aux_loss_coeff");
  table["model.moe_z_loss_coeff"] = Number("model.moe_z_loss_coeff");
  // Both programs use the same values.
  table["model.moe_router_load_balancing_type"] = Text("model.moe_router_load_balancing_type");
  table["model.moe_token_dispatcher_type"] = Text("layout.moe_token_dispatcher_type");
  table["model.moe_grouped_gemm"] = Silent();
}

void AddNemoModel(Translations& table) {
  const std::map<std::string, std::string> wholes = {
      {"micro_batch_size", "layout.micro_batch"},
      {"global_batch_size", "train.global_batch"},
      {"tensor_model_parallel_size", "layout.tp"},
      {"pipeline_model_parallel_size", "layout.pp"},
      {"context_parallel_size", "layout.cp"},
      {"virtual_pipeline_model_parallel_size", "layout.vpp"},
      {"activations_checkpoint_num_layers", "layout.recompute_num_layers"},
      {"encoder_seq_length", "train.seq_length"},
      {"num_layers", "model.num_layers"},
      {"hidden_size", "model.hidden_size"},
      {"ffn_hidden_size", "model.ffn_hidden_size"},
      {"num_attention_heads", "model.num_attention_heads"},
      {"num_query_groups", "model.num_query_groups"},
      {"kv_channels", "model.kv_channels"},
      {"max_position_embeddings", "model.max_position_embeddings"},
      {"seed", "train.seed"}};
  for (const auto& [name, key] : wholes) table[absl::StrCat("model.", name)] = Whole(key);
  table["model.init_method_std"] = Number("model.init_method_std");
  table["model.layernorm_epsilon"] = Number("model.norm_epsilon");
  table["model.rotary_percentage"] = Number("model.rotary_percent");
  table["model.rotary_base"] = Number("model.rotary_base");
  table["model.normalization"] =
      Word("model.normalization", {{"layernorm", "layer_norm"}, {"rmsnorm", "rms_norm"}});
  table["model.activation"] = Word("model.activation", {{"gelu", "gelu_tanh"},
                                                        {"swiglu", "swiglu"},
                                                        {"fast-swiglu", "swiglu"},
                                                        {"squared-relu", "squared_relu"}});
  table["model.position_embedding_type"] =
      Word("model.position_embedding_type",
           {{"rope", "rope"}, {"learned_absolute", "learned_absolute"}});
  table["model.bias"] = Switch("model.add_bias_linear");
  table["model.share_embeddings_and_output_weights"] =
      Switch("model.untie_embeddings_and_output_weights", "false", "true");
  table["model.sequence_parallel"] = Switch("layout.sequence_parallel");
  table["model.activations_checkpoint_granularity"] =
      Word("layout.recompute", {{"selective", "selective"}, {"full", "full"}});
  table["model.activations_checkpoint_method"] = Silent();
  table["model.resume_from_checkpoint"] = table["restore_from_path"];
  // LLaMA 3.1's scaling of the rotary frequencies, with its factor 8.
  table["model.scale_positional_embedding"] = Switch("model.rope_scaling_factor", "8", "");
  table["model.do_layer_norm_weight_decay"] =
      NoteUnlessOff("weight decay applies only to matrices");
  table["model.fp8"] =
      NoteUnlessOff("FP8 is not converted from this file; set train.fp8 to train in FP8");
  AddNemoExperts(table);
  for (const char* name : {"hidden_dropout", "attention_dropout", "ffn_dropout"}) {
    table[absl::StrCat("model.", name)] = NoteUnlessOff(kNemoDropout);
  }
}

// Adds NeMo's internal settings, which need no note: kernels, profiles, mixed-precision loss
// scaling.
void AddNemoSilent(Translations& table) {
  for (const char* name : {"mcore_gpt",
                           "transformer_engine",
                           "megatron_amp_O2",
                           "apply_query_key_layer_scaling",
                           "pre_process",
                           "post_process",
                           "persist_layer_norm",
                           "native_amp_init_scale",
                           "native_amp_growth_interval",
                           "hysteresis",
                           "fp32_residual_connection",
                           "fp16_lm_cross_entropy",
                           "grad_allreduce_chunk_size_mb",
                           "grad_div_ar_fusion",
                           "use_cpu_initialization",
                           "onnx_safe",
                           "apex_transformer_log_level",
                           "gradient_as_bucket_view",
                           "gradient_accumulation_fusion",
                           "use_flash_attention",
                           "bias_activation_fusion",
                           "bias_dropout_add_fusion",
                           "masked_softmax_fusion",
                           "use_scaled_init_method",
                           "sync_batch_comm",
                           "overlap_p2p_comm",
                           "batch_p2p_comm",
                           "ub_tp_comm_overlap",
                           "get_attention_mask_from_fusion",
                           "apply_rope_fusion",
                           "attention_type",
                           "headscale",
                           "transformer_block_type",
                           "openai_gelu",
                           "normalize_attention_scores",
                           "rampup_batch_size",
                           "num_micro_batches_with_partial_"
                           "activation_checkpoints",
                           "defer_embedding_wgrad_compute",
                           "fp8_e4m3",
                           "fp8_hybrid",
                           "fp8_margin",
                           "fp8_interval",
                           "fp8_amax_history_len",
                           "fp8_amax_compute_algo",
                           "reduce_amax",
                           "use_emha",
                           "deterministic_mode"}) {
    table[absl::StrCat("model.", name)] = Silent();
  }
  table["model.nsys_profile.*"] = Silent();
  table["model.tokenizer.*"] = NoteOnly(kNemoTokenizer);
  table["model.make_vocab_size_divisible_by"] = NoteOnly(kNemoTokenizer);
}

void AddNemoData(Translations& table) {
  table["model.data.data_prefix[]"] = Text("");
  table["model.data.data_prefix"] = Text("");
  table["model.data.seq_length"] = Whole("train.seq_length");
  table["model.data.reset_position_ids"] = Switch("data.reset_position_ids");
  table["model.data.reset_attention_mask"] = Switch("data.reset_attention_mask");
  table["model.data.eod_mask_loss"] = Switch("data.eod_mask_loss");
  table["model.data.*"] = Silent();
  table["model.optim.name"] = Word("layout.zero", {{"distributed_fused_adam", "1"},
                                                   {"mcore_distributed_optim", "1"},
                                                   {"fused_adam", "0"},
                                                   {"adam", "0"},
                                                   {"adamw", "0"}});
  table["model.optim.lr"] = Number("optimizer.lr");
  table["model.optim.weight_decay"] = Number("optimizer.weight_decay");
  table["model.optim.betas[]"] = Number("");
  table["model.optim.adam_beta1"] = Number("optimizer.adam_beta1");
  table["model.optim.adam_beta2"] = Number("optimizer.adam_beta2");
  table["model.optim.clip_grad"] = Number("optimizer.clip_grad");
  table["model.optim.eps"] = Number("optimizer.adam_eps");
  table["model.optim.sched.name"] = Word("schedule.kind", {{"CosineAnnealing", "cosine"},
                                                           {"WarmupAnnealing", "linear"},
                                                           {"PolynomialDecayAnnealing", "linear"}});
  table["model.optim.sched.warmup_steps"] = Whole("schedule.warmup_steps");
  table["model.optim.sched.warmup_ratio"] = Number("schedule.warmup_fraction");
  table["model.optim.sched.constant_steps"] =
      NoteUnlessOff("the schedule ends with the run; set schedule.decay_steps for steps at min_lr");
  table["model.optim.sched.min_lr"] = Number("optimizer.min_lr");
  table["model.optim.sched.max_steps"] = Whole("schedule.decay_steps");
  table["model.optim.*"] = Silent();
}

const Translations& NemoTable() {
  static const Translations table = [] {
    Translations all;
    AddNemoTrainer(all);
    AddNemoModel(all);
    AddNemoSilent(all);
    AddNemoData(all);
    return all;
  }();
  return table;
}

// Renames the paths of NeMo 2 to the paths of NeMo 1. In NeMo 2, the model's settings are fields of
// the class itself, and the parallel sizes are in the trainer's strategy.
absl::StatusOr<SourceTree> WithEarlierNames(const SourceTree& tree) {
  if (tree.call().empty()) return tree;
  static const std::map<std::string, std::string> names = {
      {"num_nodes", "trainer.num_nodes"},
      {"num_gpus_per_node", "trainer.devices"},
      {"dir", "exp_manager.exp_dir"},
      {"seq_length", "model.encoder_seq_length"},
      {"model.seq_length", "model.encoder_seq_length"},
      {"data.seq_length", "model.encoder_seq_length"},
      {"data.global_batch_size", "model.global_batch_size"},
      {"data.micro_batch_size", "model.micro_batch_size"},
      {"data.paths", "model.data.data_prefix"},
      {"data.paths[]", "model.data.data_prefix[]"}};
  // The first matching prefix is used, so longer prefixes come first.
  static const std::vector<std::pair<std::string, std::string>> prefixes = {
      {"trainer.strategy.", "model."},
      {"strategy.", "model."},
      {"model.config.", "model."},
      {"optim.config.", "model.optim."},
      {"optim.lr_scheduler.", "model.optim.sched."},
      {"optim.", "model.optim."}};
  SourceTree renamed;
  renamed.SetCall(tree.call(), tree.call_line());
  for (SourceValue value : tree.values()) {
    if (const auto name = names.find(value.path); name != names.end()) value.path = name->second;
    for (const auto& [from, to] : prefixes) {
      if (absl::StartsWith(value.path, from)) value.path = to + value.path.substr(from.size());
    }
    const std::string field = absl::StrCat("model.", value.path);
    const bool is_field = !NemoTable().contains(value.path) && NemoTable().contains(field);
    if (is_field) value.path = field;
    // The call cannot fail, because the original tree was within the limits.
    renamed.Add(std::move(value)).IgnoreError();
  }
  return renamed;
}

class NemoReader {
 public:
  NemoReader(const SourceTree& tree, JobDraft& draft) : tree_(tree), draft_(draft) {}

  void Read() {
    if (!tree_.call().empty()) TakeCall();
    SetDefaults();
    ReadPrecision();
    ReadData();
    ReadModel();
    const std::vector<SourceValue> betas = tree_.FindAll("model.optim.betas[]");
    if (betas.size() == 2) {
      draft_.Set("optimizer.adam_beta1", betas[0].text);
      draft_.Set("optimizer.adam_beta2", betas[1].text);
    }
    const int64_t batches = tree_.Whole("trainer.limit_val_batches", 0);
    const int64_t batch = tree_.Whole("model.global_batch_size", 0);
    if (const std::optional<int64_t> samples = PositiveProduct(batches, batch)) {
      draft_.Set("evaluation.samples", absl::StrCat(*samples));
    }
  }

 private:
  void TakeCall() {
    const int line = tree_.call_line();
    const std::string& call = tree_.call();
    if (!AssumeNemoModel(call, draft_)) {
      return draft_.Note(line,
                         absl::StrCat(call,
                                      "(): the shape of this model is unknown; set the `model` "
                                      "section (known: ",
                                      NemoModels(), ")"));
    }
    draft_.Note(
        line, absl::StrCat(
                  call,
                  "(): specifies only the model shape and the sequence length; other settings have "
                  "NeMo's defaults, which are unknown here: set train.global_batch, train.steps, "
                  "optimizer.lr, schedule and data"));
    if (absl::StrContains(call, "GPTConfig") && !absl::StrContains(call, "175B")) {
      draft_.Note(line, absl::StrCat(call, "(): has dropout of 0.1; ", kNemoDropout));
    }
    draft_.Note(
        line, absl::StrCat(
                  call, "(): the vocabulary size depends on the tokenizer; set model.vocab_size"));
  }

  // Sets NeMo's defaults where they differ from trainyard-trainer's.
  void SetDefaults() {
    const std::map<std::string, std::string> defaults = {
        {"model.activation", "gelu_tanh"},
        {"model.normalization", "layer_norm"},
        {"model.add_bias_linear", "true"},
        {"model.untie_embeddings_and_output_weights", "false"},
        {"model.position_embedding_type", "learned_absolute"},
        {"layout.sequence_parallel", "false"},
        {"optimizer.weight_decay", "0.01"},
        {"optimizer.min_lr", "0"}};
    for (const auto& [key, value] : defaults) draft_.Assume(key, value);
  }

  void ReadPrecision() {
    const std::string precision = tree_.Text("trainer.precision");
    if (precision.empty() && !tree_.call().empty()) return;  // NeMo 2's recipes default to bf16.
    const bool is_single = precision == "32" || precision == "32-true";
    const bool is_half = precision == "16" || precision == "16-mixed";
    draft_.Set("train.precision", is_single ? "fp32" : is_half ? "fp16" : "bf16");
  }

  // Reads either one path, or a list in which weights and paths alternate.
  void ReadData() {
    const std::vector<SourceValue> parts = tree_.FindAll("model.data.data_prefix[]");
    std::vector<std::string> blend;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      blend.push_back(absl::StrCat(parts[i].text, " ", parts[i + 1].text));
    }
    const SourceValue* path = tree_.Find("model.data.data_prefix");
    if (parts.size() == 1) draft_.Set("data.path", parts[0].text);
    const bool is_open = std::any_of(parts.begin(), parts.end(), [](const SourceValue& part) {
      return part.kind == SourceKind::kOpen;
    });
    if (is_open) {
      return draft_.Note(parts.front().line,
                         "model.data.data_prefix: a path is not in the text; set data.blend or "
                         "data.path");
    }
    if (parts.size() > 1) draft_.SetList("data.blend", blend);
    if (path != nullptr && path->kind == SourceKind::kText) draft_.Set("data.path", path->text);
    if (draft_.Has("data.path") || draft_.Has("data.blend")) draft_.Set("data.format", "megatron");
  }

  void ReadModel() {
    if (draft_.Value("model.position_embedding_type") != "learned_absolute") {
      draft_.EraseUnused("model.max_position_embeddings", "max_position_embeddings",
                         kNoPositionLimit);
    } else if (!tree_.call().empty() && draft_.Has("train.seq_length")) {
      draft_.Assume("model.max_position_embeddings", draft_.Value("train.seq_length"));
    }
    const std::optional<int64_t> hidden = draft_.Whole("model.hidden_size");
    if (!draft_.Has("model.ffn_hidden_size") && hidden.has_value() && *hidden <= 1048576) {
      draft_.Set("model.ffn_hidden_size", absl::StrCat(4 * *hidden));
    }
  }

  const SourceTree& tree_;
  JobDraft& draft_;
};

absl::Status ReadNemo(const SourceTree& tree, JobDraft& draft) {
  NemoReader(tree, draft).Read();
  return absl::OkStatus();
}

}  // namespace

ConfigReader NemoFormat() { return {WithEarlierNames, NemoTable, ReadNemo}; }

}  // namespace trainyard::cli
