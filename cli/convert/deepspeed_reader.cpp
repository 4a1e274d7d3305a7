// DeepSpeed's JSON configuration: batches, sharding, precision, optimizer. It has no model.
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

}  // namespace

absl::Status ReadDeepSpeed(const SourceTree& tree, JobDraft& draft) {
  draft.Assume("optimizer.clip_grad", "0");
  SetDeepSpeedDefaults(draft);
  Translate(tree, DeepSpeedTable(), draft);
  TakeDeepSpeedSettings(tree, draft);
  draft.lacks_model = true;
  return absl::OkStatus();
}

}  // namespace trainyard::cli
