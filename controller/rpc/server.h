// Starts the gRPC server with its settings, health checks and reflection. Returns a clear error if
// the server cannot listen.
#ifndef TRAINYARD_CONTROLLER_RPC_SERVER_H_
#define TRAINYARD_CONTROLLER_RPC_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/rpc/answer_gate.h"
#include "controller/rpc/call_timer.h"

namespace grpc {
class CallbackGenericService;
class Server;
class ServerCredentials;
class Service;
}  // namespace grpc

namespace trainyard::controller {

class LocalListener;

struct ListeningServer {
  std::unique_ptr<grpc::Server> server;
  // "host:port" with the actual port.
  std::string address;
  int port = 0;
};

struct ServerAccess {
  // The credentials of the TCP port. If nullptr, everyone may call.
  std::shared_ptr<grpc::ServerCredentials> credentials = nullptr;
  // The local socket, whose listening ports are added to the server. If nullptr, there is no local
  // socket.
  LocalListener* local = nullptr;
  BeforeAnswer before_answer = nullptr;
};

// Serves on "host:port". With port 0, a free port is used. `services` must outlive the server. A
// peer that disappears without closing its connection is detected within 10 s. INVALID_ARGUMENT:
// the address is malformed. UNAVAILABLE: the port is in use. FAILED_PRECONDITION: this machine
// cannot listen on the address for another reason.
absl::StatusOr<ListeningServer> StartServer(const std::string& listen,
                                            const std::vector<grpc::Service*>& services,
                                            const ObserveCall& observe_call = nullptr,
                                            const ServerAccess& access = {});

// Like StartServer, but `service` answers the calls of all methods.
absl::StatusOr<ListeningServer> StartGenericServer(const std::string& listen,
                                                   grpc::CallbackGenericService& service,
                                                   const ServerAccess& access);

// Sends gRPC's log messages to the program's log instead of stderr. Call once, before any server is
// created.
void RouteGrpcLog();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_SERVER_H_
