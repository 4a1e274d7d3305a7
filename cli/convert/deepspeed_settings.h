// Settings that DeepSpeed's and GPT-NeoX's configurations share.
#ifndef TRAINYARD_CLI_CONVERT_DEEPSPEED_SETTINGS_H_
#define TRAINYARD_CLI_CONVERT_DEEPSPEED_SETTINGS_H_

#include "cli/convert/translation.h"

namespace trainyard::cli {

Translations DeepSpeedSettings();

// DeepSpeed's own where they differ from trainyard-trainer's.
void SetDeepSpeedDefaults(JobDraft& draft);

// Takes what spans several settings: precision, moments, accumulation, warm-up.
void TakeDeepSpeedSettings(const SourceTree& tree, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_DEEPSPEED_SETTINGS_H_
