// Settings of models with experts, for all formats.
#ifndef TRAINYARD_CLI_CONVERT_EXPERT_SETTINGS_H_
#define TRAINYARD_CLI_CONVERT_EXPERT_SETTINGS_H_

#include <string>

#include "cli/convert/job_draft.h"
#include "cli/convert/translation.h"

namespace trainyard::cli {

// Turns biases off if the model has experts or latent attention, which trainyard-trainer supports
// only without biases. `cause` is the first part of the note, such as "use_bias_in_mlp is true, so
// GPT-NeoX adds biases".
void TurnOffBiasesOfExperts(JobDraft& draft, int line, const std::string& cause);

// GPT-NeoX's keys, with underscores.
void AddNeoxExperts(Translations& table);
// Reads the keys that AddNeoxExperts does not translate. Called after the rest of the model.
void ReadNeoxExperts(const SourceTree& tree, JobDraft& draft);

// The keys of OLMoE, which is OLMo with `model.block_type: moe`.
void AddOlmoExperts(Translations& table);
void ReadOlmoExperts(const SourceTree& tree, JobDraft& draft);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_EXPERT_SETTINGS_H_
