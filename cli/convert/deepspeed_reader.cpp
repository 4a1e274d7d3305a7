// Reads the JSON configuration of DeepSpeed: batches, sharding, precision and optimizer. The
// configuration does not describe the model.
#include <map>

#include "absl/strings/str_cat.h"
#include "cli/convert/config_readers.h"
#include "cli/convert/deepspeed_settings.h"
#include "cli/convert/translation.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

const Translations& DeepSpeedTable() {
  static const Translations table = [] {
    Translations all = DeepSpeedSettings();
    all["tensor_parallel.autotp_size"] = Whole("layout.tp");
    all["pipeline.stages"] = Whole("layout.pp");
    return all;
  }();
  return table;
}

// Assumes values for settings that the program, not the configuration, chooses. Without a
// scheduler, DeepSpeed keeps the learning rate constant. Many programs set the rate and create an
// optimizer themselves.
void AssumeProgramSettings(const SourceTree& tree, JobDraft& draft) {
  if (!tree.Has("optimizer")) {
    draft.Note(0,
               "`optimizer` is missing, so the program creates the optimizer. The job uses the "
               "defaults of trainyard-trainer instead; set optimizer.lr and related settings");
  }
  if (!tree.Has("scheduler")) {
    draft.Assume("schedule.kind", "constant");
    draft.Note(0,
               "`scheduler` is missing, so the learning rate is constant, as in DeepSpeed. If the "
               "program changes the learning rate, set schedule.kind, schedule.warmup_steps and "
               "optimizer.min_lr");
  }
}

// DeepSpeed's placeholder for a value that the program fills in. Hugging Face's Trainer takes it
// from these arguments.
constexpr char kFilled[] = "auto";

const std::map<std::string, std::string>& TrainerArguments() {
  static const std::map<std::string, std::string> arguments = {
      {"train_micro_batch_size_per_gpu",
       "per_device_train_batch_size, 8 by default; set layout.micro_batch"},
      {"gradient_accumulation_steps",
       "gradient_accumulation_steps, 1 by default; set train.global_batch"},
      {"train_batch_size",
       "the micro-batch size, the accumulation and the number of GPUs; set "
       "train.global_batch"},
      {"gradient_clipping", "max_grad_norm, 1.0 by default; set optimizer.clip_grad"},
      {"optimizer.params.lr", "learning_rate, 5e-5 by default; set optimizer.lr"},
      {"optimizer.params.betas",
       "adam_beta1 and adam_beta2, 0.9 and 0.999 by default; set optimizer.adam_beta1 and "
       "optimizer.adam_beta2"},
      {"optimizer.params.eps", "adam_epsilon, 1e-8 by default; set optimizer.adam_eps"},
      {"optimizer.params.weight_decay", "weight_decay, 0 by default; set optimizer.weight_decay"},
      {"scheduler.params.warmup_max_lr", "learning_rate, 5e-5 by default; set optimizer.lr"},
      {"scheduler.params.warmup_min_lr", "0"},
      {"scheduler.params.warmup_num_steps",
       "warmup_steps, 0 by default; set "
       "schedule.warmup_steps"},
      {"scheduler.params.total_num_steps",
       "max_steps or num_train_epochs; set train.steps and "
       "schedule.decay_steps"},
      {"fp16.enabled", "fp16, false by default; set train.precision"},
      {"bf16.enabled", "bf16, false by default; set train.precision"}};
  return arguments;
}

// Makes filled values null, so that no setting is translated from them.
absl::StatusOr<SourceTree> WithoutFilledValues(const SourceTree& tree) {
  SourceTree prepared;
  for (SourceValue value : tree.values()) {
    if (value.text == kFilled) value.kind = SourceKind::kNull;
    TRAINYARD_RETURN_IF_ERROR(prepared.Add(std::move(value)));
  }
  return prepared;
}

void NameFilledValues(const SourceTree& tree, JobDraft& draft) {
  for (const SourceValue& value : tree.values()) {
    if (value.text != kFilled || value.kind != SourceKind::kNull) continue;
    const auto argument = TrainerArguments().find(value.path);
    if (argument == TrainerArguments().end()) {
      draft.LeaveOut(value.path, "the program fills in `auto`");
      continue;
    }
    draft.Note(value.line, absl::StrCat(value.path,
                                        ": auto: the program fills it in; Hugging "
                                        "Face's Trainer takes ",
                                        argument->second));
  }
}

absl::Status ReadDeepSpeed(const SourceTree& tree, JobDraft& draft) {
  NameFilledValues(tree, draft);
  const bool is_clip_filled = tree.Text("gradient_clipping") == kFilled;
  const bool is_decay_filled = tree.Text("optimizer.params.weight_decay") == kFilled;
  if (!is_clip_filled) draft.Assume("optimizer.clip_grad", "0");
  draft.Assume("layout.zero", "0");
  if (tree.Has("optimizer")) SetDeepSpeedDefaults(draft, is_decay_filled);
  TakeDeepSpeedSettings(tree, draft);
  AssumeProgramSettings(tree, draft);
  draft.lacks_model = true;
  return absl::OkStatus();
}

}  // namespace

ConfigReader DeepSpeedFormat() { return {WithoutFilledValues, DeepSpeedTable, ReadDeepSpeed}; }

}  // namespace trainyard::cli
