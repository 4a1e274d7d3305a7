// Directories that the controller uses or names.
#ifndef TRAINYARD_CONTROLLER_DIRECTORIES_H_
#define TRAINYARD_CONTROLLER_DIRECTORIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/controller_options.h"

namespace trainyard::controller {

absl::StatusOr<std::string> AbsolutePath(const std::string& path);

// Returns the checkpoint directory of jobs that do not set checkpoint.dir. A configured directory
// need not exist on this machine, because only workers use it.
absl::StatusOr<std::string> CheckpointRoot(const ControllerOptions& options);

// Returns the directories of the recipes that are installed with this program.
std::vector<std::string> RecipeDirectories();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_DIRECTORIES_H_
