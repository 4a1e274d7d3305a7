// Access to a restored controller, for the message of `server restore`.
#ifndef TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_
#define TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_

#include <string>

namespace trainyard::controller {

// States whether earlier clients and workers keep their access, and otherwise the next step: a
// backup does not contain the token. `token_file` is the restored controller's token file.
std::string RestoredAccessText(const std::string& token_file);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_
