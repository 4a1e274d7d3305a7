// Finds the login names of users of this machine.
#ifndef TRAINYARD_PROTO_ACCESS_USER_NAME_H_
#define TRAINYARD_PROTO_ACCESS_USER_NAME_H_

#include <sys/types.h>

#include <string>

namespace trainyard {

// Returns the login name of the user, or a text like "uid-1234" if the user has none. The name may
// be up to a minute old. Any thread.
std::string UserName(uid_t uid);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_USER_NAME_H_
