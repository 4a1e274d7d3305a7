// Finds the login names of users of this machine.
#ifndef TRAINYARD_PROTO_ACCESS_USER_NAME_H_
#define TRAINYARD_PROTO_ACCESS_USER_NAME_H_

#include <sys/types.h>

#include <string>

namespace trainyard {

// Returns the login name of the user, at most a minute old. Returns a text like "uid-1234" if the
// user has no name. Any thread.
std::string UserName(uid_t uid);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_USER_NAME_H_
