// A request and its answer, free of the library that carries them.
#ifndef TRAINYARD_CONTROLLER_HTTP_EXCHANGE_H_
#define TRAINYARD_CONTROLLER_HTTP_EXCHANGE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/access/address.h"

namespace trainyard::controller::http {

struct Request {
  std::string method;
  // As sent: path and query.
  std::string target;
  std::string host;
  // Empty when the client sent none; the same for all below.
  std::string origin;
  std::string fetch_site;
  std::string content_type;
  std::string accept_encoding;
  std::string if_none_match;
  std::string last_event_id;
  std::string authorization;
  // Header kSessionHeader.
  std::string session_secret;
  std::string body;
  // HOST:PORT of the client's end of the connection.
  std::string peer;
  // Id of the session that admitted the request; empty when the token did.
  std::string session_id;
};

// Header with the secret of a dashboard's session. Not Authorization: a proxy may use that one.
inline constexpr char kSessionHeader[] = "Trainyard-Session";

// Host of the client's end of the connection; empty when it is not known.
inline std::string PeerHost(const Request& request) {
  const auto peer = SplitAddress(request.peer);
  return peer.has_value() ? peer->host : "";
}

// The open end of an event stream. Thread-safe.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // Queues bytes. A slow consumer, with too much queued or nothing read for long, is disconnected:
  // it resumes by its last id. The first message may be of any size.
  virtual void Send(std::shared_ptr<const std::string> bytes) = 0;
  virtual void Close() = 0;
  // False once the client is gone.
  virtual bool open() const = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  // Headers besides those of every answer.
  std::vector<std::pair<std::string, std::string>> headers;
  // Tag of the content, with quotes; empty: made from the body when status is 200.
  std::string etag;
  // The body is compressed with gzip already; such bodies go to clients that accept it only.
  bool gzipped = false;
  std::string cache_control = "no-cache";
  // When set, the answer is a stream and has no body: called with it once the head is sent.
  std::function<void(std::shared_ptr<StreamSink>)> stream;
};

// Called once, on any thread.
using Respond = std::function<void(Response)>;

// Called on the server's thread.
using Handler = std::function<void(Request, Respond)>;

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_EXCHANGE_H_
