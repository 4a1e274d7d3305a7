// Identity of the machine's current boot.
#ifndef TRAINYARD_PROTO_SUPPORT_BOOT_ID_H_
#define TRAINYARD_PROTO_SUPPORT_BOOT_ID_H_

#include <string>

namespace trainyard {

// Changes with each boot of the machine; empty if the kernel does not report it.
std::string BootId();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_BOOT_ID_H_
