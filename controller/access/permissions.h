// The table of operations and roles. gRPC and HTTP look up every call in it.
#ifndef TRAINYARD_CONTROLLER_ACCESS_PERMISSIONS_H_
#define TRAINYARD_CONTROLLER_ACCESS_PERMISSIONS_H_

#include <array>
#include <span>
#include <string_view>

namespace trainyard::controller {

enum class Role {
  // Has presented neither the token nor a session.
  kAnonymous,
  // Has the token, a session, or access to the local socket. Workers are operators too: they have
  // the token, and their Hello then proves the node.
  kOperator,
};

// One operation. It has a gRPC method, REST routes, or both.
struct Permission {
  // Without the package, such as "JobService/StopJob". Empty if there is none.
  std::string_view method;
  // Ids of routes (controller/http/routes.h).
  std::array<std::string_view, 2> routes;
  bool anonymous = false;
  bool operators = true;
};

std::span<const Permission> Permissions();

// `path`: "/trainyard.v1.JobService/StopJob". A method without a row is for operators: gRPC's
// health checks and reflection, and methods that this release does not have.
bool MayCall(Role role, std::string_view path);

// A route id without a row, such as the empty id of an unknown path, is for operators.
bool MayUseRoute(Role role, std::string_view route_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_PERMISSIONS_H_
