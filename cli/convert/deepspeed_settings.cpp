#include "cli/convert/deepspeed_settings.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"

namespace trainyard::cli {
namespace {

void AddZero(Translations& table) {
  static const char kOffload[] = "offloading is not supported; all states stay on the GPU";
  table["zero_optimization.stage"] = Whole("layout.zero");
  table["zero_optimization.mics_shard_size"] = Whole("layout.zero_size");
  for (const char* name : {"offload_optimizer.device", "offload_param.device"}) {
    table[absl::StrCat("zero_optimization.", name)] = Word("", {{"none", ""}});
  }
  table["zero_optimization.offload_optimizer.*"] = Silent();
  table["zero_optimization.offload_param.*"] = Silent();
  table["zero_optimization.cpu_offload"] = NoteUnlessOff(kOffload);
  for (const char* name : {"zero_quantized_weights", "zero_quantized_gradients"}) {
    table[absl::StrCat("zero_optimization.", name)] =
        NoteUnlessOff("weights and gradients are sent unquantized");
  }
  table["zero_optimization.zero_hpz_partition_size"] = NoteOnly(
      "a secondary copy of the parameters is not supported; to shard over fewer ranks, set "
      "layout.zero_size");
  // No note is needed, because trainyard-trainer chooses its own buckets, overlap and prefetch.
  table["zero_optimization.*"] = Silent();
  table["zero_allow_untested_optimizer"] = Silent();
  table["zero_force_ds_cpu_optimizer"] = Silent();
}

void AddOptimizer(Translations& table) {
  table["optimizer.type"] = Word("", {{"Adam", ""}, {"AdamW", ""}, {"FusedAdam", ""}});
  table["optimizer.params.lr"] = Number("optimizer.lr");
  table["optimizer.params.betas[]"] = Number("");
  table["optimizer.params.eps"] = Number("optimizer.adam_eps");
  table["optimizer.params.weight_decay"] = Number("optimizer.weight_decay");
  table["optimizer.params.torch_adam"] = Silent();
  table["optimizer.params.bias_correction"] = Silent();
  table["optimizer.params.adam_w_mode"] = Silent();
  table["scheduler.type"] =
      Word("schedule.kind",
           {{"WarmupLR", "constant"}, {"WarmupDecayLR", "linear"}, {"WarmupCosineLR", "cosine"}});
  table["scheduler.params.warmup_max_lr"] = Number("optimizer.lr");
  table["scheduler.params.warmup_min_lr"] = NoteUnlessOff("the warm-up starts at 0");
  table["scheduler.params.warmup_num_steps"] = Whole("schedule.warmup_steps");
  table["scheduler.params.total_num_steps"] = Whole("schedule.decay_steps");
  table["scheduler.params.warmup_type"] = Word("", {{"linear", ""}});
  table["scheduler.params.cos_min_ratio"] = Number("");
  table["scheduler.params.warmup_min_ratio"] = NoteUnlessOff("the warm-up starts at 0");
  table["scheduler.params.last_batch_iteration"] = Silent();
}

void AddPrecision(Translations& table) {
  table["bf16.enabled"] = Switch("");
  table["bfloat16.enabled"] = Switch("");
  table["bf16.*"] = Silent();
  table["fp16.enabled"] = Switch("");
  table["fp16.*"] = Silent();
  table["data_types.*"] = Silent();
  table["communication_data_type"] = Silent();
  table["fp32_allreduce"] = Silent();
  table["prescale_gradients"] = Silent();
  table["gradient_predivide_factor"] = Silent();
  table["amp.*"] =
      NoteOnly("set train.precision to bf16, fp16 or fp32; other precisions are not supported");
}

// DeepSpeed's output settings. No counterparts are needed, because the worker collects metrics from
// the ranks.
void AddOutput(Translations& table) {
  for (const char* name :
       {"wall_clock_breakdown", "memory_breakdown", "dump_state", "tensorboard.*", "wandb.*",
        "csv_monitor.*", "comet.*", "flops_profiler.*", "comms_logger.*", "autotuning.*",
        "monitor_config.*"}) {
    table[name] = Silent();
  }
}

}  // namespace

Translations DeepSpeedSettings() {
  Translations table = {
      {"train_batch_size", Whole("train.global_batch")},
      {"train_micro_batch_size_per_gpu", Whole("layout.micro_batch")},
      {"gradient_accumulation_steps", Whole("")},
      {"gradient_clipping", Number("optimizer.clip_grad")},
      {"steps_per_print", Whole("train.log_every_steps")},
      {"activation_checkpointing.*",
       NoteOnly(
           "this setting is ignored; to enable activation checkpointing, set layout.recompute")},
      {"sparse_attention.*",
       NoteOnly("only dense attention is supported; model.window_size sets a sliding window")},
      {"curriculum_learning.*", NoteOnly("not supported; all samples have the same length")},
      {"data_efficiency.*",
       NoteOnly(
           "not supported; all samples have the same length, and all layers process all tokens")},
      {"elasticity.*",
       NoteOnly(
           "use `layout: auto` instead, which chooses a new layout when nodes are lost and keeps "
           "the batch size")},
      {"checkpoint.*", Silent()},
      {"aio.*", Silent()}};
  AddZero(table);
  AddOptimizer(table);
  AddPrecision(table);
  AddOutput(table);
  return table;
}

void SetDeepSpeedDefaults(JobDraft& draft, bool is_decay_filled) {
  draft.Assume("optimizer.adam_beta2", "0.999");
  if (!is_decay_filled) draft.Assume("optimizer.weight_decay", "0");
}

namespace {

// DeepSpeed's default for the first scale is 2^16. DeepSpeed's other defaults are Trainyard's.
void TakeFp16(const SourceTree& tree, JobDraft& draft) {
  draft.Set("train.precision", "fp16");
  const int64_t power = tree.Whole("fp16.initial_scale_power", 16);
  draft.Set("train.initial_loss_scale", DraftNumber(std::exp2(static_cast<double>(power))));
  for (const char* name : {"loss_scale_window", "hysteresis", "min_loss_scale"}) {
    draft.Set(absl::StrCat("train.", name), tree.Text(absl::StrCat("fp16.", name)));
  }
  const std::string fixed = tree.Text("fp16.loss_scale");
  if (fixed.empty() || fixed == "0") return;
  draft.Note(tree.Line("fp16.loss_scale"),
             absl::StrCat("fp16.loss_scale: ", fixed,
                          ": a constant scale is not supported; the job adapts the scale"));
}

}  // namespace

void TakeDeepSpeedSettings(const SourceTree& tree, JobDraft& draft) {
  const bool is_half =
      tree.IsTrue("fp16.enabled") || tree.IsTrue("bf16.enabled") || tree.IsTrue("bfloat16.enabled");
  const bool is_open = tree.Text("bf16.enabled") == "auto" || tree.Text("fp16.enabled") == "auto";
  if (is_half) draft.Set("train.precision", "bf16");
  if (tree.IsTrue("fp16.enabled")) TakeFp16(tree, draft);
  if (!is_half && !is_open) draft.Assume("train.precision", "fp32");
  const std::vector<SourceValue> betas = tree.FindAll("optimizer.params.betas[]");
  if (betas.size() == 2) {
    draft.Set("optimizer.adam_beta1", betas[0].text);
    draft.Set("optimizer.adam_beta2", betas[1].text);
  }
  if (const int64_t steps = tree.Whole("gradient_accumulation_steps", 0); steps > 0) {
    draft.accumulation = steps;
  }
  if (tree.Has("scheduler.params.total_num_steps") && !draft.Has("train.steps")) {
    draft.Set("train.steps", draft.Value("schedule.decay_steps"));
  }
  if (tree.Has("scheduler.type") && tree.Text("scheduler.params.warmup_type") != "linear" &&
      draft.Has("schedule.warmup_steps")) {
    draft.Note(tree.Line("scheduler.params.warmup_num_steps"),
               "scheduler.params.warmup_type: the default warm-up of DeepSpeed is logarithmic, but "
               "the job's warm-up is linear");
  }
  const std::string ratio = tree.Text("scheduler.params.cos_min_ratio");
  const double rate = draft.Number("optimizer.lr").value_or(0);
  if (tree.Has("scheduler.type")) {
    draft.Set("optimizer.min_lr", DraftNumber(rate * NumberOf(ratio).value_or(0)));
  }
}

}  // namespace trainyard::cli
