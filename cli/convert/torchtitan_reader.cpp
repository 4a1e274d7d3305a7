// Reads the TOML of torchtitan's first and later releases.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/convert/config_readers.h"
#include "cli/convert/torchtitan_flavors.h"
#include "cli/convert/translation.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

Translations TorchtitanOptimizer() {
  return {{"optimizer.name", Word("", {{"AdamW", ""}, {"adamw", ""}})},
          {"optimizer.lr", Number("optimizer.lr")},
          {"optimizer.beta1", Number("optimizer.adam_beta1")},
          {"optimizer.beta2", Number("optimizer.adam_beta2")},
          {"optimizer.eps", Number("optimizer.adam_eps")},
          {"optimizer.weight_decay", Number("optimizer.weight_decay")},
          {"optimizer.implementation", Silent()},
          {"optimizer.fused", Silent()},
          {"optimizer.early_step_in_backward",
           NoteUnlessOff("not supported; the optimizer runs after the whole backward pass")},
          {"lr_scheduler.warmup_steps", Whole("schedule.warmup_steps")},
          {"lr_scheduler.decay_ratio", Number("")},
          {"lr_scheduler.decay_type", Word("", {{"linear", ""}, {"sqrt", ""}, {"cosine", ""}})},
          {"lr_scheduler.lr_min", Number("")},
          {"lr_scheduler.min_lr_factor", Number("")},
          {"lr_scheduler.total_steps", Whole("schedule.decay_steps")}};
}

Translations TorchtitanCheckpoints() {
  return {
      {"checkpoint.enable_checkpoint", Silent()},
      {"checkpoint.enable", Silent()},
      {"checkpoint.folder", Silent()},
      {"checkpoint.interval_type", Word("", {{"steps", ""}})},
      {"checkpoint.interval", Whole("checkpoint.every_steps")},
      {"checkpoint.keep_latest_k", Whole("")},
      {"checkpoint.async_mode",
       Word("checkpoint.async",
            {{"disabled", "false"}, {"async", "true"}, {"async_with_pinned_mem", "true"}})},
      {"checkpoint.last_save_model_only", Silent()},
      {"checkpoint.last_save_in_hf", Silent()},
      {"checkpoint.export_dtype", Silent()},
      {"checkpoint.model_weights_only", Silent()},
      {"checkpoint.initial_load_path",
       NoteOnly("torchtitan checkpoints are not supported; `trainyard "
                "ckpt import` reads Hugging Face checkpoints")},
      {"checkpoint.initial_load_model_only", Silent()},
      {"activation_checkpoint.mode",
       Word("layout.recompute", {{"none", "none"}, {"full", "full"}, {"selective", "selective"}})},
      {"activation_checkpoint.*",
       NoteOnly("layout.recompute does not have this option; `selective` recomputes only norms and "
                "the feed-forward activation")}};
}

Translations TorchtitanLayout() {
  return {{"parallelism.tensor_parallel_degree", Whole("layout.tp")},
          {"parallelism.context_parallel_degree", Whole("layout.cp")},
          {"parallelism.pipeline_parallel_degree", Whole("layout.pp")},
          {"parallelism.expert_parallel_degree", Whole("layout.ep")},
          {"parallelism.expert_tensor_parallel_degree", Whole("layout.etp")},
          {"parallelism.data_parallel_replicate_degree", Whole("")},
          {"parallelism.data_parallel_shard_degree", Whole("")},
          {"parallelism.fsdp_reshard_after_forward",
           Word("", {{"default", ""}, {"always", ""}, {"never", ""}})},
          {"parallelism.pipeline_parallel_microbatch_size", Whole("")},
          {"parallelism.pipeline_parallel_schedule", Silent()},
          {"parallelism.context_parallel_rotate_method",
           Word("layout.cp_comm_type", {{"allgather", "all_gather"}, {"alltoall", "p2p"}})},
          {"parallelism.enable_async_tensor_parallel", Silent()},
          {"parallelism.disable_loss_parallel", Silent()},
          {"parallelism.enable_compiled_autograd", Silent()}};
}

const Translations& TorchtitanTable() {
  static const Translation tokenizer = NoteOnly(
      "`trainyard data prepare` chooses the tokenizer; set data.path to its output directory");
  static const Translation fp8 =
      NoteOnly("FP8 is not converted from this file; set train.fp8 to train in FP8");
  static const Translation data =
      NoteOnly("the tokens come from files: run `trainyard data prepare` and set data.path");
  static const Translations table = [] {
    Translations all = {
        {"job.*", Silent()},
        {"profiling.*", Silent()},
        {"comm.*", Silent()},
        {"comm.train_timeout_seconds", Whole("train.distributed_timeout_s")},
        {"metrics.*", Silent()},
        {"metrics.log_freq", Whole("train.log_every_steps")},
        {"memory_estimation.*", Silent()},
        {"experimental.*", NoteOnly("not understood")},
        {"model.name", Silent()},
        {"model.flavor", Silent()},
        {"model.tokenizer_path", tokenizer},
        {"model.hf_assets_path", tokenizer},
        {"model.norm_type",
         Word("model.normalization", {{"rmsnorm", "rms_norm"}, {"layernorm", "layer_norm"}})},
        {"model.print_after_conversion", Silent()},
        {"model.converters[]", fp8},
        {"float8.*", fp8},
        {"quantize.*", fp8},
        {"training.dataset", data},
        {"training.dataset_path", data},
        {"training.batch_size", Whole("")},
        {"training.local_batch_size", Whole("")},
        {"training.global_batch_size", Whole("")},
        {"training.seq_len", Whole("train.seq_length")},
        {"training.max_norm", Number("optimizer.clip_grad")},
        {"training.steps", Whole("train.steps")},
        {"training.warmup_steps", Whole("schedule.warmup_steps")},
        {"training.seed", Whole("train.seed")},
        {"training.deterministic", Switch("train.deterministic")},
        {"training.mixed_precision_param",
         Word("train.precision", {{"bfloat16", "bf16"}, {"float32", "fp32"}})},
        {"training.mixed_precision_reduce", Silent()},
        {"training.compile", Silent()},
        {"training.enable_cpu_offload",
         NoteUnlessOff("offloading is not supported; all states stay on the GPU")},
        {"training.gc_freq", Silent()},
        {"training.gc_debug", Silent()},
        {"compile.*", Silent()},
        {"validation.enable", Silent()},
        {"validation.freq", Whole("evaluation.every_steps")},
        {"validation.*", NoteOnly("set evaluation.sets and evaluation.samples")}};
    all.merge(TorchtitanOptimizer());
    all.merge(TorchtitanCheckpoints());
    all.merge(TorchtitanLayout());
    return all;
  }();
  return table;
}

// Renames settings of torchtitan's first releases, which had the parallel sizes in the sections
// `training` and `experimental`.
SourceTree WithLaterNames(const SourceTree& tree) {
  SourceTree renamed;
  for (SourceValue value : tree.values()) {
    for (const char* old : {"training.", "experimental."}) {
      const std::string name =
          absl::StartsWith(value.path, old) ? value.path.substr(std::string(old).size()) : "";
      if (absl::StrContains(name, "_parallel") && absl::EndsWith(name, "_degree")) {
        value.path = absl::StrCat("parallelism.", name);
      } else if (absl::StartsWith(name, "pipeline_parallel_") ||
                 absl::StartsWith(name, "enable_async_tensor_parallel")) {
        value.path = absl::StrCat("parallelism.", name);
      }
    }
    // Cannot fail, because the original tree was within the limits.
    renamed.Add(std::move(value)).IgnoreError();
  }
  return renamed;
}

class TorchtitanReader {
 public:
  TorchtitanReader(const SourceTree& tree, JobDraft& draft) : tree_(tree), draft_(draft) {}

  void Read() {
    SetDefaults();
    ReadModel();
    ReadBatch();
    ReadSharding();
    ReadSchedule();
    ReadCheckpoint();
  }

 private:
  // Sets torchtitan's defaults where they differ from trainyard-trainer's.
  void SetDefaults() {
    const std::map<std::string, std::string> defaults = {
        {"optimizer.lr", "8e-4"},          {"optimizer.adam_beta2", "0.95"},
        {"optimizer.weight_decay", "0.1"}, {"schedule.warmup_steps", "200"},
        {"train.steps", "10000"},          {"train.seq_length", "2048"},
        {"layout.recompute", "selective"}, {"checkpoint.every_steps", "500"}};
    for (const auto& [key, value] : defaults) draft_.Assume(key, value);
  }

  void ReadModel() {
    const std::string name = tree_.Has("model.name") ? tree_.Text("model.name") : "llama3";
    const std::string flavor = tree_.Text("model.flavor");
    if (SetTorchtitanModel(name, flavor, draft_)) {
      if (name == "llama3") {
        draft_.Note(tree_.Line("model.flavor"),
                    "model.flavor: later releases of torchtitan scale the rotary frequencies as "
                    "LLaMA 3.1 does; to scale them too, set model.rope_scaling_factor to 8");
      }
      return;
    }
    const int line = std::max(tree_.Line("model.flavor"), tree_.Line("model.name"));
    draft_.Note(
        line, absl::StrCat("model ", name, " ", flavor.empty() ? "(no flavor)" : flavor,
                           ": the shape of this model is unknown; set the `model` section (known: ",
                           TorchtitanModels(), ")"));
  }

  void ReadBatch() {
    const int64_t local =
        tree_.Whole("training.local_batch_size", tree_.Whole("training.batch_size", 8));
    const bool is_pipeline = draft_.Whole("layout.pp").value_or(1) > 1;
    int64_t micro = local;
    if (is_pipeline) micro = tree_.Whole("parallelism.pipeline_parallel_microbatch_size", 1);
    draft_.Set("layout.micro_batch", absl::StrCat(micro));
    const int64_t global = tree_.Whole("training.global_batch_size", -1);
    if (global > 0) {
      draft_.Set("train.global_batch", absl::StrCat(global));
    } else if (micro > 0 && local % micro == 0) {
      draft_.accumulation = local / micro;
    }
    ReadExpertLayout();
  }

  // torchtitan's degrees are 1 for models without experts.
  void ReadExpertLayout() {
    if (draft_.Has("model.num_experts")) return NoteBalance();
    draft_.Erase("layout.etp");
    if (draft_.Whole("layout.ep").value_or(1) == 1) return draft_.Erase("layout.ep");
    draft_.Note(tree_.Line("parallelism.expert_parallel_degree"),
                "parallelism.expert_parallel_degree: the experts of this model are unknown; set "
                "model.num_experts and model.moe_router_topk");
  }

  void NoteBalance() {
    if (draft_.Value("model.moe_router_enable_expert_bias") == "true") return;
    draft_.Note(tree_.Line("model.flavor"),
                "model.flavor: torchtitan balances the experts by a bias per expert, which is "
                "supported only with sigmoid scores; to balance them, set "
                "model.moe_aux_loss_coeff, for example to 0.001");
  }

  // FSDP2 corresponds to ZeRO 3, or to ZeRO 2 if parameters stay gathered after the forward pass.
  void ReadSharding() {
    const int64_t shard = tree_.Whole("parallelism.data_parallel_shard_degree", -1);
    const int64_t replicate = tree_.Whole("parallelism.data_parallel_replicate_degree", 1);
    const std::string reshard = tree_.Text("parallelism.fsdp_reshard_after_forward");
    const bool is_pipeline = draft_.Whole("layout.pp").value_or(1) > 1;
    const bool stays_gathered = reshard == "never" || (is_pipeline && reshard != "always");
    if (shard == 1) return draft_.Set("layout.zero", "0");
    draft_.Set("layout.zero", stays_gathered ? "2" : "3");
    if (replicate > 1 && shard > 1) draft_.Set("layout.zero_size", absl::StrCat(shard));
    if (replicate > 1 && shard < 0) {
      draft_.Note(tree_.Line("parallelism.data_parallel_replicate_degree"),
                  "parallelism.data_parallel_replicate_degree: the number of ranks that share one "
                  "replica depends on the cluster; set layout.zero_size");
    }
    if (shard > 1) {
      const std::optional<int64_t> ranks = PositiveProduct(shard, std::max<int64_t>(replicate, 1));
      if (ranks.has_value()) draft_.Set("layout.dp", absl::StrCat(*ranks));
    }
  }

  void ReadSchedule() {
    const std::string type =
        tree_.Has("lr_scheduler.decay_type") ? tree_.Text("lr_scheduler.decay_type") : "linear";
    const std::string factor = tree_.Has("lr_scheduler.min_lr_factor")
                                   ? tree_.Text("lr_scheduler.min_lr_factor")
                                   : tree_.Text("lr_scheduler.lr_min");
    const double rate = draft_.Number("optimizer.lr").value_or(0);
    draft_.Set("optimizer.min_lr", DraftNumber(rate * NumberOf(factor).value_or(0)));
    const std::string ratio = tree_.Text("lr_scheduler.decay_ratio");
    if (ratio.empty() && type != "sqrt") return draft_.Set("schedule.kind", type);
    draft_.Set("schedule.kind", "wsd");
    draft_.Set("schedule.wsd_decay_style", type == "sqrt" ? "minus_sqrt" : type);
    if (!ratio.empty()) return draft_.Set("schedule.decay_fraction", ratio);
    const int64_t steps = draft_.Whole("train.steps").value_or(0);
    const int64_t warmup = draft_.Whole("schedule.warmup_steps").value_or(0);
    if (steps > warmup) draft_.Set("schedule.decay_steps", absl::StrCat(steps - warmup));
  }

  void ReadCheckpoint() {
    if (!tree_.IsTrue("checkpoint.enable") && !tree_.IsTrue("checkpoint.enable_checkpoint")) {
      draft_.Set("checkpoint.every_steps", "0");
      draft_.Note(tree_.Line("checkpoint.interval"),
                  "checkpoints are off, so the job saves only when it ends or is stopped; set "
                  "checkpoint.every_steps");
    }
    const int64_t keep = tree_.Whole("checkpoint.keep_latest_k", -1);
    if (keep > 0) draft_.Set("checkpoint.keep_last", absl::StrCat(keep));
    if (keep == 0) draft_.Set("checkpoint.keep_last", "100000");  // 0 keeps all checkpoints.
    const std::string folder = tree_.Text("checkpoint.folder");
    if (!folder.empty()) {
      draft_.Note(
          tree_.Line("checkpoint.folder"),
          absl::StrCat("checkpoint.folder: ", folder,
                       ": this folder is inside torchtitan's dump folder, but the controller "
                       "chooses the job's directory; to choose it yourself, set checkpoint.dir"));
    }
  }

  const SourceTree& tree_;
  JobDraft& draft_;
};

// If Python code contains the TOML as one string, returns the tree of that string. Line numbers
// refer to the Python file.
absl::StatusOr<SourceTree> Unwrapped(const SourceTree& tree) {
  const std::vector<SourceValue>& values = tree.values();
  const bool is_wrapped = values.size() == 1 && absl::StrContains(values[0].text, "\n") &&
                          !absl::StrContains(values[0].path, ".");
  if (!is_wrapped) return tree;
  return ReadTomlTree(std::string(static_cast<size_t>(values[0].line), '\n') + values[0].text);
}

absl::StatusOr<SourceTree> PreparedTorchtitan(const SourceTree& written) {
  TRAINYARD_ASSIGN_OR_RETURN(const SourceTree tree, Unwrapped(written));
  return WithLaterNames(tree);
}

absl::Status ReadTorchtitan(const SourceTree& tree, JobDraft& draft) {
  TorchtitanReader(tree, draft).Read();
  return absl::OkStatus();
}

}  // namespace

ConfigReader TorchtitanFormat() { return {PreparedTorchtitan, TorchtitanTable, ReadTorchtitan}; }

}  // namespace trainyard::cli
