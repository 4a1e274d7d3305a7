// Shapes of the models named by NeMo 2's classes.
#ifndef TRAINYARD_CLI_CONVERT_NEMO_CLASSES_H_
#define TRAINYARD_CLI_CONVERT_NEMO_CLASSES_H_

#include <string>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// True for the call of a model class or of a recipe: "GPTConfig7B",
// "llm.llama3_8b.pretrain_recipe".
bool IsNemoCall(const std::string& call);

// Assumes the `model` section and the sample length. False if the shape is unknown.
bool AssumeNemoModel(const std::string& call, JobDraft& draft);

// "GPTConfig7B, Llama3Config8B, ...".
std::string NemoModels();

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_NEMO_CLASSES_H_
