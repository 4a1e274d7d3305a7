// One connection of the HTTP server.
#ifndef TRAINYARD_CONTROLLER_HTTP_SESSION_H_
#define TRAINYARD_CONTROLLER_HTTP_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ssl/context.hpp"
#include "controller/http/server.h"

namespace trainyard::controller::http {

// State that all connections share; outlives them. Server thread only, except atomic members.
struct SessionContext {
  const ServerLimits& limits;
  const Handler& handler;
  // Null: connections are not encrypted.
  boost::asio::ssl::context* tls = nullptr;
  std::atomic<int> open_connections = 0;  // The last holder of a session may be a reader thread.
  std::atomic<int> open_streams = 0;
  std::atomic<int64_t> dropped_streams = 0;
};

// A handle to end the connection from outside; harmless once it is gone.
class SessionHandle {
 public:
  virtual ~SessionHandle() = default;
  virtual void Close() = 0;
};

// Reads requests and writes answers until the connection ends. It keeps itself alive. A connection
// beyond the limit gets 503 and is closed; far beyond it, it is only closed. Server thread.
std::weak_ptr<SessionHandle> StartSession(boost::asio::ip::tcp::socket socket,
                                          SessionContext& context);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_SESSION_H_
