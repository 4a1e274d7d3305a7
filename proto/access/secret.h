// Random secrets.
#ifndef TRAINYARD_PROTO_ACCESS_SECRET_H_
#define TRAINYARD_PROTO_ACCESS_SECRET_H_

#include <string>

namespace trainyard {

// Returns 64 hexadecimal digits from the kernel's random source.
std::string NewSecret();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_SECRET_H_
