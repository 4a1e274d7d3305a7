// The kernel's table of TCP sockets of this network namespace, read line by line: works with every
// kernel, and takes milliseconds, since the kernel walks all of its table for it.
#ifndef TRAINYARD_PROTO_ACCESS_SOCKET_TABLE_H_
#define TRAINYARD_PROTO_ACCESS_SOCKET_TABLE_H_

#include <sys/types.h>

#include <set>
#include <string>

#include "proto/access/address.h"

namespace trainyard {

// Users who listen at exactly this numeric address; where none does, those who listen at every
// address.
std::set<uid_t> ListenersInTable(const HostAndPort& where);

// Users of established loopback connections between these ports, seen from the end `near`.
std::set<uid_t> ConnectionsInTable(int near, int far);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_SOCKET_TABLE_H_
