// A request and its answer, independent of the HTTP library.
#ifndef TRAINYARD_CONTROLLER_HTTP_EXCHANGE_H_
#define TRAINYARD_CONTROLLER_HTTP_EXCHANGE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/access/permissions.h"
#include "proto/access/address.h"

namespace trainyard::controller::http {

struct Request {
  std::string method;
  // Path and query as the client sent them.
  std::string target;
  std::string host;
  // `origin` and the following headers are empty if the client did not send them.
  std::string origin;
  std::string fetch_site;
  std::string content_type;
  std::string accept_encoding;
  std::string if_none_match;
  std::string last_event_id;
  std::string authorization;
  // The header kSessionHeader.
  std::string session_secret;
  std::string body;
  // A standby has passed this request on (kRelayHeader).
  bool relayed = false;
  // The client's HOST:PORT.
  std::string peer;
  // The id of the client's session. Empty if the client has none.
  std::string session_id;
  Role role = Role::kAnonymous;
};

// The header with the secret of a dashboard session. The Authorization header is not used, because
// a reverse proxy may use it for its own login.
inline constexpr char kSessionHeader[] = "Trainyard-Session";

// Set in requests that a standby passes on to the leader (relay.h).
inline constexpr char kRelayHeader[] = "Trainyard-Relay";

// Returns the host of the client without the port. Empty if unknown.
inline std::string PeerHost(const Request& request) {
  const auto peer = SplitAddress(request.peer);
  return peer.has_value() ? peer->host : "";
}

// The writing end of an event stream. Thread-safe.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // Queues bytes. A client is disconnected as a slow consumer if too many bytes are queued, or if
  // it reads nothing for a long time. The client can reconnect and resume after the last id that it
  // received. The first message may have any size.
  virtual void Send(std::shared_ptr<const std::string> bytes) = 0;
  virtual void Close() = 0;
  // Returns false after the client has disconnected.
  virtual bool open() const = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  // Headers in addition to the headers of every response.
  std::vector<std::pair<std::string, std::string>> headers;
  // The entity tag, including its quotes. If empty and the status is 200, the tag is computed from
  // the body.
  std::string etag;
  // True if the body is already compressed. Such a body may be sent only to clients that accept
  // gzip.
  bool gzipped = false;
  std::string cache_control = "no-cache";
  // If set, the response is a stream and `body` is not sent. Called with the sink after the status
  // line and headers were sent.
  std::function<void(std::shared_ptr<StreamSink>)> stream;
};

// Sends the response. Called exactly once, on any thread.
using Respond = std::function<void(Response)>;

// Called on the server's thread.
using Handler = std::function<void(Request, Respond)>;

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_EXCHANGE_H_
