// The gRPC server: settings, health, reflection, and a clear error when it cannot listen.
#ifndef TRAINYARD_CONTROLLER_RPC_SERVER_H_
#define TRAINYARD_CONTROLLER_RPC_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grpc {
class Server;
class ServerCredentials;
class Service;
}  // namespace grpc

namespace trainyard::controller {

class LocalListener;

struct ListeningServer {
  std::unique_ptr<grpc::Server> server;
  // "host:port" with the real port.
  std::string address;
  int port = 0;
};

// Called on gRPC threads for each call that has ended: "JobService/SubmitJob", the status code's
// name, such as "OK", and the duration. Calls that stream are left out: they last until the client
// leaves, so their duration means nothing.
using ObserveCall =
    std::function<void(const std::string& method, const std::string& code, double seconds)>;

// Admission of callers.
struct ServerAccess {
  // Of the TCP port; null: everybody may call.
  std::shared_ptr<grpc::ServerCredentials> credentials = nullptr;
  // Gets its ports; null: no local socket.
  LocalListener* local = nullptr;
};

// Serves on "host:port"; port 0 picks a free one.
// `services` outlive the server. A peer that is gone without closing its connection is detected
// within 10 s. INVALID_ARGUMENT: no such form of address. UNAVAILABLE: the port is in use.
// FAILED_PRECONDITION: this machine cannot listen there for another reason.
absl::StatusOr<ListeningServer> StartServer(const std::string& listen,
                                            const std::vector<grpc::Service*>& services,
                                            const ObserveCall& observe_call = nullptr,
                                            const ServerAccess& access = {});

// Sends gRPC's own messages to the program's log instead of stderr. Call once, before any server.
void RouteGrpcLog();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_SERVER_H_
