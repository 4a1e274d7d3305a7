// The HTTP/1.1 server. It handles connections, limits and timeouts; the handler produces the
// responses.
#ifndef TRAINYARD_CONTROLLER_HTTP_SERVER_H_
#define TRAINYARD_CONTROLLER_HTTP_SERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/access/tls_identity.h"
#include "controller/http/exchange.h"
#include "controller/http/server_limits.h"

namespace trainyard::controller::http {

struct StreamStatistics {
  int open = 0;
  // The number of streams disconnected since the start because the client was a slow
  // consumer.
  int64_t dropped = 0;
};

class Server {
 public:
  // Listens on "host:port". With port 0, a free port is used. No request is read before Start.
  // INVALID_ARGUMENT: the address is malformed. UNAVAILABLE: the port is in use.
  // FAILED_PRECONDITION: this machine cannot listen on the address, or the certificate or key is
  // invalid.
  static absl::StatusOr<std::unique_ptr<Server>> Listen(const std::string& listen,
                                                        ServerLimits limits = {},
                                                        const TlsIdentity& tls = {});
  // Stops.
  ~Server();

  // Sets a function that is called before each write to a client. It ends the process if the
  // controller must no longer answer. Call before Start.
  void BeforeAnswer(std::function<void()> check);
  void Start(Handler handler);
  // Closes every connection and ends the thread. Work posted after that never runs.
  void Stop();

  // "host:port" with the actual port.
  const std::string& address() const;

  // May be called on any thread.
  StreamStatistics Streams() const;

  // Queues `work`, which runs on the server's thread in the order of the calls. May be called on
  // any thread.
  void Post(std::function<void()> work);
  // Calls `work` on the server's thread at this interval. Call before Start.
  void Every(std::chrono::milliseconds interval, std::function<void()> work);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_SERVER_H_
