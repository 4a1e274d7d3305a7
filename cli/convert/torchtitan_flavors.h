// The shapes of the models that torchtitan names.
#ifndef TRAINYARD_CLI_CONVERT_TORCHTITAN_FLAVORS_H_
#define TRAINYARD_CLI_CONVERT_TORCHTITAN_FLAVORS_H_

#include <string>
#include <vector>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Sets the `model` section. Returns false if the table does not have this flavor of the model.
// name: such as "llama3".
bool SetTorchtitanModel(const std::string& name, const std::string& flavor, JobDraft& draft);

// Returns the known models: "llama3 70B, llama3 8B, ...".
std::string TorchtitanModels();

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_TORCHTITAN_FLAVORS_H_
