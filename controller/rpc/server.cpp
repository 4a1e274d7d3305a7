#include "controller/rpc/server.h"

#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/support/server_interceptor.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/access/local_listener.h"
#include "controller/access/server_credentials.h"
#include "controller/api/records/limits.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// A peer that sends nothing for kKeepaliveTimeMs is pinged. If it does not answer within 4 s, it is
// disconnected.
constexpr int kKeepaliveTimeMs = 5000;
constexpr int kKeepaliveTimeoutMs = 4000;
// The minimum interval between a client's pings.
constexpr int kClientPingIntervalMs = 1000;
// The maximum memory of all connections together, not counting the memory of the services.
constexpr std::size_t kMaxTransportBytes = std::size_t{1} << 30;
constexpr int kMaxCallsOfConnection = 1024;

struct HostPort {
  std::string host;
  int port = 0;
};

absl::StatusOr<HostPort> ParseListen(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  HostPort result;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(listen.substr(colon + 1), &result.port) || result.port < 0 ||
      result.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen ", listen, ": expected HOST:PORT, such as 127.0.0.1:7070"));
  }
  result.host = listen.substr(0, colon);
  return result;
}

// Tries to listen on the address. Returns the errno value, 0 on success, or nullopt if the host
// name has no address.
std::optional<int> ProbeListen(const HostPort& where) {
  std::string host = where.host;
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(where.port).c_str(), &hints, &found) != 0) {
    return std::nullopt;
  }
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool bound = bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, 1) == 0;
  const int error = bound ? 0 : errno;
  close(fd);
  freeaddrinfo(found);
  return error;
}

absl::Status WhyNotListening(const HostPort& where) {
  const std::optional<int> error = ProbeListen(where);
  if (!error.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", where.host,
                     ": the name has no address; set --listen to an address of this machine"));
  }
  if (*error == EADDRINUSE) {
    return absl::UnavailableError(absl::StrCat("port ", where.port, " on ", where.host,
                                               " is in use by another program (another ",
                                               "controller?); choose another port with --listen ",
                                               where.host, ":PORT; PORT 0 picks a free one"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("cannot listen on ", where.host, ":", where.port, ": ",
                   *error == 0 ? "gRPC refused the address" : std::strerror(*error),
                   "; choose another address with --listen HOST:PORT"));
}

void SetLimits(grpc::ServerBuilder& builder) {
  // If the quota is used up, gRPC accepts no new connections and discards data that it has read
  // ahead. The quota prevents many partly sent messages from using up the machine's memory.
  grpc::ResourceQuota quota("trainyard-controller");
  quota.Resize(kMaxTransportBytes);
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsOfConnection);
  builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxMessageBytes));
  builder.SetMaxSendMessageSize(static_cast<int>(kMaxMessageBytes));
  // Port reuse is off. Otherwise a second controller could listen on the same port, and each would
  // get half of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kClientPingIntervalMs);
}

void LogGrpcMessage(gpr_log_func_args* args) {
  const auto level =
      args->severity == GPR_LOG_SEVERITY_ERROR ? spdlog::level::debug : spdlog::level::trace;
  spdlog::log(level, "grpc: {}", args->message);
}

absl::StatusOr<ListeningServer> StartOn(const HostPort& where, const std::string& listen,
                                        const ServerAccess& access, grpc::ServerBuilder& builder) {
  SetLimits(builder);
  int port = 0;
  builder.AddListeningPort(
      listen, access.credentials ? access.credentials : grpc::InsecureServerCredentials(), &port);
  if (access.local != nullptr) access.local->AddPorts(builder, MakeLocalCredentials);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port <= 0) return WhyNotListening(where);
  return ListeningServer{std::move(server), absl::StrCat(where.host, ":", port), port};
}

}  // namespace

absl::StatusOr<ListeningServer> StartServer(const std::string& listen,
                                            const std::vector<grpc::Service*>& services,
                                            const ObserveCall& observe_call,
                                            const ServerAccess& access) {
  TRAINYARD_ASSIGN_OR_RETURN(const HostPort where, ParseListen(listen));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  if (observe_call) interceptors.push_back(MakeCallTimers(observe_call));
  if (access.before_answer) interceptors.push_back(MakeAnswerGate(access.before_answer));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  for (grpc::Service* service : services) builder.RegisterService(service);
  return StartOn(where, listen, access, builder);
}

absl::StatusOr<ListeningServer> StartGenericServer(const std::string& listen,
                                                   grpc::CallbackGenericService& service,
                                                   const ServerAccess& access) {
  TRAINYARD_ASSIGN_OR_RETURN(const HostPort where, ParseListen(listen));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&service);
  return StartOn(where, listen, access, builder);
}

// Most errors in gRPC's log are about disconnected peers, which the services report themselves.
void RouteGrpcLog() { gpr_set_log_function(&LogGrpcMessage); }

}  // namespace trainyard::controller
