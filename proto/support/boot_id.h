// Identifies the machine's current boot.
#ifndef TRAINYARD_PROTO_SUPPORT_BOOT_ID_H_
#define TRAINYARD_PROTO_SUPPORT_BOOT_ID_H_

#include <string>

namespace trainyard {

// Returns an id that changes with each boot of the machine. Empty if the kernel does not report an
// id.
std::string BootId();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_BOOT_ID_H_
