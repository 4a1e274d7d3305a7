// Access to a restored controller, for the message of `server restore`.
#ifndef TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_
#define TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_

#include <string>

namespace trainyard::controller {

// Says whether earlier clients and workers keep their access, and the next step where they do not:
// a backup holds no token. `token_file`: of the restored controller.
std::string RestoredAccessText(const std::string& token_file);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_
