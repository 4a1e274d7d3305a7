// Describes the access to a restored controller, for the output of `server restore`.
#ifndef TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_
#define TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_

#include <string>

namespace trainyard::controller {

// Returns a text that states whether earlier clients and workers still have access to the restored
// controller. If they have lost access, the text names the next step. A backup does not contain the
// token. `token_file` is the restored controller's token file.
std::string RestoredAccessText(const std::string& token_file);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_
