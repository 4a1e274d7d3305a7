// Settings that are common to the configurations of DeepSpeed and GPT-NeoX.
#ifndef TRAINYARD_CLI_CONVERT_DEEPSPEED_SETTINGS_H_
#define TRAINYARD_CLI_CONVERT_DEEPSPEED_SETTINGS_H_

#include "cli/convert/translation.h"

namespace trainyard::cli {

Translations DeepSpeedSettings();

// Sets DeepSpeed's defaults where they differ from trainyard-trainer's.
// `is_decay_filled`: the program fills in the weight decay, so the default does not apply.
void SetDeepSpeedDefaults(JobDraft& draft, bool is_decay_filled);

// Reads settings that depend on each other: precision, moments, accumulation, warm-up.
void TakeDeepSpeedSettings(const SourceTree& tree, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_DEEPSPEED_SETTINGS_H_
