// The table of operations and the roles that may use them. Every gRPC call and HTTP request is
// checked against this table.
#ifndef TRAINYARD_CONTROLLER_ACCESS_PERMISSIONS_H_
#define TRAINYARD_CONTROLLER_ACCESS_PERMISSIONS_H_

#include <array>
#include <span>
#include <string_view>

namespace trainyard::controller {

enum class Role {
  // The caller has presented neither the token nor a session.
  kAnonymous,
  // The caller has the token, a session, or access to the local socket. Workers are operators too,
  // because workers have the token. A worker's Hello then proves which node it is.
  kOperator,
};

// The permission of one operation. An operation has a gRPC method, REST routes, or both.
struct Permission {
  // The method without its package, such as "JobService/StopJob". Empty for REST-only operations.
  std::string_view method;
  // Ids of routes (controller/http/routes.h).
  std::array<std::string_view, 3> routes;
  bool anonymous = false;
  bool operators = true;
};

std::span<const Permission> Permissions();

// `path` is, for example, "/trainyard.v1.JobService/StopJob". Only operators may call methods
// without a row in the table: gRPC's health checks and reflection, and methods unknown to this
// release.
bool MayCall(Role role, std::string_view path);

// Only operators may use routes without a row in the table. The empty id of an unknown path is such
// a route.
bool MayUseRoute(Role role, std::string_view route_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_PERMISSIONS_H_
