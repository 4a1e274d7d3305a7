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
  // Path and query, as sent.
  std::string target;
  std::string host;
  // Empty if the client did not send the header. The same applies to the headers below.
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
  // HOST:PORT of the client.
  std::string peer;
  // Id of the client's session; empty if it has none.
  std::string session_id;
  Role role = Role::kAnonymous;
};

// Header with the secret of a dashboard session. Not Authorization, which a proxy may use itself.
inline constexpr char kSessionHeader[] = "Trainyard-Session";

// Host of the client, without the port; empty if unknown.
inline std::string PeerHost(const Request& request) {
  const auto peer = SplitAddress(request.peer);
  return peer.has_value() ? peer->host : "";
}

// The writing end of an event stream. Thread-safe.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // Queues bytes. A slow consumer (too many bytes queued, or nothing read for a long time) is
  // disconnected; it resumes with its last id. The first message may be of any size.
  virtual void Send(std::shared_ptr<const std::string> bytes) = 0;
  virtual void Close() = 0;
  // False once the client is gone.
  virtual bool open() const = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  // Headers in addition to those that every answer has.
  std::vector<std::pair<std::string, std::string>> headers;
  // Entity tag with quotes. Empty: computed from the body if status is 200.
  std::string etag;
  // The body is already gzip-compressed. Send such a body only to clients that accept gzip.
  bool gzipped = false;
  std::string cache_control = "no-cache";
  // If set, the answer is a stream without a body. Called with the sink once the head is sent.
  std::function<void(std::shared_ptr<StreamSink>)> stream;
};

// Called exactly once, on any thread.
using Respond = std::function<void(Response)>;

// Called on the server's thread.
using Handler = std::function<void(Request, Respond)>;

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_EXCHANGE_H_
