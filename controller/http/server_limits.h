// Limits of the HTTP server: sizes, number of connections, and timeouts.
#ifndef TRAINYARD_CONTROLLER_HTTP_SERVER_LIMITS_H_
#define TRAINYARD_CONTROLLER_HTTP_SERVER_LIMITS_H_

#include <chrono>
#include <cstddef>

namespace trainyard::controller::http {

struct ServerLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t target_bytes = 8 << 10;
  std::size_t body_bytes = 2 << 20;
  // The maximum number of open connections, including streams.
  int connections = 1024;
  // The maximum number of bytes queued for a stream, not counting its first message. Beyond this
  // limit, the client is disconnected as a slow consumer.
  std::size_t stream_bytes = 4 << 20;
  // The time limit for the client to send a complete request, and to read a response. A client of a
  // stream must read at least some bytes within this time.
  std::chrono::milliseconds read_timeout{30'000};
  // The maximum time between two requests on a connection.
  std::chrono::milliseconds idle{75'000};
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_SERVER_LIMITS_H_
