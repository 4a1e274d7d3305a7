// The HTTP/1.1 server: connections, limits, time-outs. The handler produces the answers.
#ifndef TRAINYARD_CONTROLLER_HTTP_SERVER_H_
#define TRAINYARD_CONTROLLER_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/access/tls_identity.h"
#include "controller/http/exchange.h"

namespace trainyard::controller::http {

struct ServerLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t target_bytes = 8 << 10;
  std::size_t body_bytes = 2 << 20;
  // Open connections, including streams.
  int connections = 1024;
  // Bytes queued for a stream, not counting its first message, beyond which its client counts as a
  // slow consumer.
  std::size_t stream_bytes = 4 << 20;
  // Time within which a complete request must arrive and an answer must be read. A stream's client
  // must read at least some bytes within it.
  std::chrono::milliseconds read_timeout{30'000};
  // Maximum time between two requests of a connection.
  std::chrono::milliseconds idle{75'000};
};

struct StreamStatistics {
  int open = 0;
  // Number of streams ended since the start because their client was a slow consumer.
  int64_t dropped = 0;
};

class Server {
 public:
  // Listens on "host:port"; port 0 picks a free port. Reads nothing before Start. INVALID_ARGUMENT:
  // malformed address. UNAVAILABLE: the port is in use. FAILED_PRECONDITION: this machine cannot
  // listen on the address, or the certificate or key is invalid.
  static absl::StatusOr<std::unique_ptr<Server>> Listen(const std::string& listen,
                                                        ServerLimits limits = {},
                                                        const TlsIdentity& tls = {});
  // Stops.
  ~Server();

  void Start(Handler handler);
  // Closes every connection and ends the thread. Work posted later never runs.
  void Stop();

  // "host:port" with the actual port.
  const std::string& address() const;

  // Any thread.
  StreamStatistics Streams() const;

  // Runs work on the server's thread, in order. Any thread.
  void Post(std::function<void()> work);
  // Calls `work` periodically on the server's thread. Call before Start.
  void Every(std::chrono::milliseconds interval, std::function<void()> work);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_SERVER_H_
