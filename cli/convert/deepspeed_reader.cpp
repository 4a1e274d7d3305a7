// Reads the JSON configuration of DeepSpeed: batches, sharding, precision and optimizer. The
// configuration does not describe the model.
#include "cli/convert/config_readers.h"
#include "cli/convert/deepspeed_settings.h"
#include "cli/convert/translation.h"

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

}  // namespace

absl::Status ReadDeepSpeed(const SourceTree& tree, JobDraft& draft) {
  draft.Assume("optimizer.clip_grad", "0");
  draft.Assume("layout.zero", "0");
  if (tree.Has("optimizer")) SetDeepSpeedDefaults(draft);
  Translate(tree, DeepSpeedTable(), draft);
  TakeDeepSpeedSettings(tree, draft);
  AssumeProgramSettings(tree, draft);
  draft.lacks_model = true;
  return absl::OkStatus();
}

}  // namespace trainyard::cli
