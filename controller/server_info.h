// Builds the response to GetServerInfo: settings, security warnings and storage space.
#ifndef TRAINYARD_CONTROLLER_SERVER_INFO_H_
#define TRAINYARD_CONTROLLER_SERVER_INFO_H_

#include <string>
#include <vector>

#include "controller/access/listener_rule.h"
#include "controller/controller_options.h"
#include "controller/retention/pruner.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// Returns the listeners that the options configure.
std::vector<ListenerSetting> ListenersOf(const ControllerOptions& options);

// Returns warnings for users about listeners that other machines can reach without a token or
// without TLS.
std::vector<std::string> Dangers(const ControllerOptions& options);

// Returns how callers are authenticated: "token", "token and TLS" or "open".
std::string AccessText(const ControllerOptions& options);

// Returns the HOST:PORT at which other machines reach the HTTP server that listens on `listen`;
// empty if only this machine does. `advertise`: ControllerOptions::advertise.
std::string PageAddress(const std::string& advertise, const std::string& listen);

// Returns the part of the response that stays the same while the controller runs.
v1::GetServerInfoResponse MakeServerInfo(const ControllerOptions& options,
                                         const std::string& cluster_id, Timestamp now);

// Adds the newest measurement of the stores and of their disk.
void AddSpace(const SpaceReport& space, v1::GetServerInfoResponse& info);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_SERVER_INFO_H_
