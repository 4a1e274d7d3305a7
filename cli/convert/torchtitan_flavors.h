// The shapes of the models that torchtitan defines.
#ifndef TRAINYARD_CLI_CONVERT_TORCHTITAN_FLAVORS_H_
#define TRAINYARD_CLI_CONVERT_TORCHTITAN_FLAVORS_H_

#include <string>
#include <vector>

#include "cli/convert/job_draft.h"

namespace trainyard::cli {

// Sets the `model` section for a model `name`, such as "llama3", and a flavor, such as "8B".
// Returns false if the table does not contain this name and flavor.
bool SetTorchtitanModel(const std::string& name, const std::string& flavor, JobDraft& draft);

// Lists the known models as "llama3 70B, llama3 8B, ...".
std::string TorchtitanModels();

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_TORCHTITAN_FLAVORS_H_
