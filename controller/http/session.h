// One connection of the HTTP server.
#ifndef TRAINYARD_CONTROLLER_HTTP_SESSION_H_
#define TRAINYARD_CONTROLLER_HTTP_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ssl/context.hpp"
#include "controller/http/exchange.h"
#include "controller/http/server_limits.h"

namespace trainyard::controller::http {

// Shared by all connections of a server. Must outlive the connections. Atomic members may be used
// on any thread, other members only on the server's thread.
struct SessionContext {
  const ServerLimits& limits;
  const Handler& handler;
  // If null, connections are not encrypted.
  boost::asio::ssl::context* tls = nullptr;
  // Called before each write to a client. May be unset.
  std::function<void()> before_answer;
  std::atomic<int> open_connections = 0;  // Atomic: a reader thread may release a session last.
  std::atomic<int> open_streams = 0;
  std::atomic<int64_t> dropped_streams = 0;
};

// Closes the connection at the request of code outside the session. Does nothing if the connection
// is already closed.
class SessionHandle {
 public:
  virtual ~SessionHandle() = default;
  virtual void Close() = 0;
};

// Reads requests and writes responses until the connection ends. The session owns itself. An excess
// connection gets a 503 response and is closed. With TLS, or if many excess connections are open,
// an excess connection is closed without a response. Call on the server's thread.
std::weak_ptr<SessionHandle> StartSession(boost::asio::ip::tcp::socket socket,
                                          SessionContext& context);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_SESSION_H_
