// Login names of users of this machine.
#ifndef TRAINYARD_PROTO_ACCESS_USER_NAME_H_
#define TRAINYARD_PROTO_ACCESS_USER_NAME_H_

#include <sys/types.h>

#include <string>

namespace trainyard {

// Login name of the user, at most a minute old; "uid-1234" for a user without a name. Any thread.
std::string UserName(uid_t uid);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_USER_NAME_H_
