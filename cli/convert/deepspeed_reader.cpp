// Reads DeepSpeed's JSON configuration: batches, sharding, precision, optimizer. It contains no
// model.
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

// Without a scheduler DeepSpeed keeps the learning rate constant. Many programs set the rate, and
// create an optimizer, themselves.
void AssumeProgramSettings(const SourceTree& tree, JobDraft& draft) {
  if (!tree.Has("optimizer")) {
    draft.Note(0,
               "no `optimizer`, so the program sets its own, but the job uses the defaults of "
               "trainyard-trainer; set optimizer.lr and related settings");
  }
  if (!tree.Has("scheduler")) {
    draft.Assume("schedule.kind", "constant");
    draft.Note(0,
               "no `scheduler`, so the learning rate is constant, as in DeepSpeed; if the program "
               "sets the rate itself, set schedule.kind, "
               "schedule.warmup_steps and optimizer.min_lr");
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
