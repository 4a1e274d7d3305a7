// Composes the command line that starts a program in a container. Pure.
#ifndef TRAINYARD_WORKER_ENVIRONMENT_CONTAINER_COMMAND_H_
#define TRAINYARD_WORKER_ENVIRONMENT_CONTAINER_COMMAND_H_

#include <string>
#include <vector>

#include "worker/core/environment_options.h"
#include "worker/environment/captured_program.h"

namespace trainyard::worker {

// The place of the rank on its node.
struct ContainerSite {
  std::string working_directory;
  // Variables of the rank before modules were loaded. The container gets those that do not describe
  // the node's own software (IsOfNode).
  Variables variables;
};

// True for variables that describe the software of the node, such as PATH. In a container, these
// have the values of the image.
bool IsOfNode(const std::string& name);

// Returns the launcher's command line that runs `command` in the container of `options`. Values of
// variables are not part of it, because other users can read command lines.
std::vector<std::string> ContainerCommand(const EnvironmentOptions& options,
                                          const ContainerSite& site,
                                          const std::vector<std::string>& command);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_ENVIRONMENT_CONTAINER_COMMAND_H_
