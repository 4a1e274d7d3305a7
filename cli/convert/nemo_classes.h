// The model shapes of the classes in NeMo 2.
#ifndef TRAINYARD_CLI_CONVERT_NEMO_CLASSES_H_
#define TRAINYARD_CLI_CONVERT_NEMO_CLASSES_H_

#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// True for a call of a NeMo model class or recipe, such as "GPTConfig7B" or
// "llm.llama3_8b.pretrain_recipe".
bool IsNemoCall(const std::string& call);

// Sets defaults for the `model` section and the sample length. Returns false if the shape is
// unknown.
bool AssumeNemoModel(const std::string& call, JobDraft& draft);

// "GPTConfig7B, Llama3Config8B, ...".
std::string NemoModels();

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_NEMO_CLASSES_H_
