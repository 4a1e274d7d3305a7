#include <utility>

// beast/core.hpp must precede Asio (see proto/support/asio.h).
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "boost/beast/ssl.hpp"
#include "controller/http/session.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/http/beast_text.h"
#include "controller/http/content.h"
#include "controller/http/problem.h"

namespace trainyard::controller::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

// The minimum size of a body to compress. Smaller bodies do not become much smaller.
constexpr std::size_t kGzipFrom = 1024;
constexpr int kGzipLevel = 3;
// After its last response, the server reads and discards the client's data for at most kLinger and
// at most kDiscardMost bytes, kDiscardBytes at a time (see Linger).
constexpr std::chrono::seconds kLinger{2};
constexpr std::size_t kDiscardBytes = 64 << 10;
constexpr std::size_t kDiscardMost = 8 << 20;
// The maximum number of excess connections that are answered with 503 at the same time. Further
// connections are closed without a response.
constexpr int kRefusedAtOnce = 64;

// Dashboard pages load nothing from other origins, run no inline scripts, and cannot be displayed
// in a frame.
constexpr char kContentPolicy[] =
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'";

Request ToRequest(const bhttp::request<bhttp::string_body>& message) {
  const auto field = [&](bhttp::field name) { return ToText(message[name]); };
  return {.method = ToText(message.method_string()),
          .target = ToText(message.target()),
          .host = field(bhttp::field::host),
          .origin = field(bhttp::field::origin),
          .fetch_site = ToText(message["Sec-Fetch-Site"]),
          .content_type = field(bhttp::field::content_type),
          .accept_encoding = field(bhttp::field::accept_encoding),
          .if_none_match = field(bhttp::field::if_none_match),
          .last_event_id = ToText(message["Last-Event-ID"]),
          .authorization = field(bhttp::field::authorization),
          .session_secret = ToText(message[kSessionHeader]),
          .body = message.body(),
          .relayed = message.count(kRelayHeader) != 0,
          .peer = "",
          .session_id = ""};
}

void SetSecurityHeaders(bhttp::fields& fields) {
  fields.set("Content-Security-Policy", kContentPolicy);
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("X-Frame-Options", "DENY");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Cross-Origin-Opener-Policy", "same-origin");
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
}

// Converts the response to an HTTP message: sets the entity tag, compresses the body, and omits the
// body if HTTP forbids one. May be called on any thread.
bhttp::response<bhttp::string_body> Encode(const Request& request, Response response,
                                           bool keep_alive) {
  if (response.etag.empty() && response.status == 200) response.etag = EntityTag(response.body);
  // A leader may have answered 304 already (relay.h).
  const bool cached =
      response.status == 304 || (response.status == 200 && request.method != "POST" &&
                                 MatchesTag(request.if_none_match, response.etag));
  bhttp::response<bhttp::string_body> message(
      cached ? bhttp::status::not_modified : static_cast<bhttp::status>(response.status), 11);
  message.keep_alive(keep_alive);
  SetSecurityHeaders(message);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.set(bhttp::field::cache_control, response.cache_control);
  message.set(bhttp::field::vary, "Accept-Encoding");
  if (!response.etag.empty()) message.set(bhttp::field::etag, response.etag);
  if (cached) return message;
  message.set(bhttp::field::content_type, response.content_type);
  const bool compress = !response.gzipped && response.body.size() >= kGzipFrom &&
                        AcceptsGzip(request.accept_encoding);
  if (compress) response.body = Gzip(response.body, kGzipLevel);
  if (compress || response.gzipped) message.set(bhttp::field::content_encoding, "gzip");
  message.content_length(response.body.size());
  if (request.method != "HEAD") message.body() = std::move(response.body);
  return message;
}

std::string StreamHead() {
  bhttp::response<bhttp::empty_body> message(bhttp::status::ok, 11);
  SetSecurityHeaders(message);
  message.set(bhttp::field::content_type, "text/event-stream");
  message.set(bhttp::field::cache_control, "no-store");
  // Prevents proxies from buffering events.
  message.set("X-Accel-Buffering", "no");
  // Closing the connection marks the end of the stream.
  message.keep_alive(false);
  return absl::StrCat(
      "HTTP/1.1 200 OK\r\n",
      [&] {
        std::string fields;
        for (const auto& field : message) {
          absl::StrAppend(&fields, ToText(field.name_string()), ": ", ToText(field.value()),
                          "\r\n");
        }
        return fields;
      }(),
      "\r\nretry: 1000\n\n");
}

// Returns "127.0.0.1:4711" or "[::1]:4711". Empty if the connection is closed.
std::string PeerOf(const asio::ip::tcp::socket& socket) {
  beast::error_code error;
  const asio::ip::tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return "";
  const std::string address = peer.address().to_string();
  return peer.address().is_v6() ? absl::StrCat("[", address, "]:", peer.port())
                                : absl::StrCat(address, ":", peer.port());
}

// Stream is either a TCP stream or TLS over a TCP stream.
template <typename Stream>
class Session final : public StreamSink,
                      public SessionHandle,
                      public std::enable_shared_from_this<Session<Stream>> {
 public:
  Session(Stream stream, SessionContext& context)
      : stream_(std::move(stream)), deadline_(Tcp().get_executor()), context_(context) {
    ++context_.open_connections;
    peer_ = PeerOf(Tcp().socket());
  }
  ~Session() override { --context_.open_connections; }

  // Performs the TLS handshake before the first request. Only called with TLS.
  void Greet() {
    Tcp().expires_after(context_.limits.read_timeout);
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = this->shared_from_this()](beast::error_code error) {
                              if (error) return self->End();
                              self->Tcp().expires_never();
                              self->Read();
                            });
  }

  void Read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(context_.limits.header_bytes));
    parser_->body_limit(context_.limits.body_bytes);
    const bool waits = buffer_.size() == 0 && answered_;
    SetReadDeadline(waits ? context_.limits.idle : context_.limits.read_timeout);
    bhttp::async_read(stream_, buffer_, *parser_,
                      [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                        self->OnRead(error);
                      });
  }

  void Refuse(const char* code, const std::string& detail) {
    Write(Encode({}, ProblemResponse(code, detail, ""), false));
  }

  // Implements StreamSink. May be called on any thread.
  void Send(std::shared_ptr<const std::string> bytes) override {
    asio::post(Tcp().get_executor(),
               [self = this->shared_from_this(), bytes = std::move(bytes)] { self->Queue(bytes); });
  }
  bool open() const override { return open_.load(); }
  void Close() override {
    asio::post(Tcp().get_executor(), [self = this->shared_from_this()] { self->End(); });
  }

 private:
  // Uses a separate timer, because the stream's own timeout would close the connection before an
  // error response could be sent.
  void SetReadDeadline(std::chrono::milliseconds after) {
    Tcp().expires_never();
    timed_out_ = false;
    deadline_.expires_after(after);
    // The handler may already be queued when the timer is canceled. The read number ensures that
    // the handler does not end a later read.
    deadline_.async_wait(
        [self = this->shared_from_this(), read = ++reads_](beast::error_code error) {
          if (error || read != self->reads_) return;
          self->timed_out_ = true;
          self->Tcp().cancel();
        });
  }

  void OnRead(beast::error_code error) {
    ++reads_;
    deadline_.cancel();
    if (timed_out_ && error && parser_->got_some()) {
      return Refuse("request_timeout",
                    absl::StrCat("the request was not complete after ",
                                 context_.limits.read_timeout.count() / 1000.0, " s"));
    }
    if (error == bhttp::error::end_of_stream || error == asio::error::operation_aborted) {
      return End();
    }
    if (error == bhttp::error::header_limit) {
      return Refuse("header_too_large", absl::StrCat("the header has more than ",
                                                     context_.limits.header_bytes, " bytes"));
    }
    if (error == bhttp::error::body_limit) {
      return Refuse("body_too_large",
                    absl::StrCat("the body has more than ", context_.limits.body_bytes, " bytes"));
    }
    if (!error) return Handle();
    // Only malformed bytes are answered. Other errors, such as a timeout, end the connection.
    const auto& of_bytes = bhttp::make_error_code(bhttp::error::bad_method).category();
    if (error.category() != of_bytes) return End();
    Refuse("bad_request", error.message());
  }

  void Handle();

  void Answer(std::shared_ptr<const Request> request, Response response) {
    if (response.stream) {
      asio::post(Tcp().get_executor(),
                 [self = this->shared_from_this(), start = std::move(response.stream)] {
                   self->BeginStream(start);
                 });
      return;
    }
    auto message = std::make_shared<bhttp::response<bhttp::string_body>>(
        Encode(*request, std::move(response), keep_alive_));
    asio::post(Tcp().get_executor(),
               [self = this->shared_from_this(), message] { self->Write(std::move(*message)); });
  }

  void Write(bhttp::response<bhttp::string_body> message) {
    if (!open_) return;
    if (context_.before_answer) context_.before_answer();
    message_ = std::move(message);
    Tcp().expires_after(context_.limits.read_timeout);
    bhttp::async_write(stream_, message_,
                       [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                         self->OnWritten(error);
                       });
  }

  void OnWritten(beast::error_code error) {
    if (error) return End();
    if (!message_.keep_alive()) return Linger();
    answered_ = true;
    Read();
  }

  // Reads and discards the client's bytes for a short time, or until the client closes the
  // connection. If the server closed the connection with unread bytes, TCP would reset it and the
  // client could lose the response.
  void Linger() {
    beast::error_code ignored;
    Tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    Tcp().expires_after(kLinger);
    Discard();
  }

  void Discard() {
    buffer_.clear();
    stream_.async_read_some(
        buffer_.prepare(kDiscardBytes),
        [self = this->shared_from_this()](beast::error_code error, std::size_t got) {
          self->discarded_ += got;
          if (error || self->discarded_ > kDiscardMost) return self->End();
          self->Discard();
        });
  }

  void BeginStream(const std::function<void(std::shared_ptr<StreamSink>)>& start) {
    if (!open_) return;
    Tcp().expires_never();
    is_stream_ = true;
    ++context_.open_streams;
    Queue(std::make_shared<std::string>(StreamHead()));
    WatchForEnd();
    start(this->shared_from_this());
  }

  // Reads from a stream's client only to notice its disconnection, because the client sends nothing
  // more. Then ends the session.
  void WatchForEnd() {
    Tcp().socket().async_wait(
        asio::ip::tcp::socket::wait_read,
        [self = this->shared_from_this()](beast::error_code) { self->End(); });
  }

  // Queues bytes and drops a slow consumer. The limit excludes the first two messages in the queue,
  // because a stream's first message may have any size.
  void Queue(const std::shared_ptr<const std::string>& bytes) {
    if (!open_) return;
    queue_.push_back(bytes);
    if (queue_.size() > 2) waiting_bytes_ += bytes->size();
    if (waiting_bytes_ > context_.limits.stream_bytes) return Drop();
    if (queue_.size() == 1) WriteQueue();
  }

  // Writes the first message of the queue. A client that reads nothing for read_timeout is
  // disconnected as a slow consumer.
  void WriteQueue() {
    if (context_.before_answer) context_.before_answer();
    Tcp().expires_after(context_.limits.read_timeout);
    stream_.async_write_some(
        asio::buffer(*queue_.front()) + written_of_front_,
        [self = this->shared_from_this()](beast::error_code error, std::size_t more) {
          self->OnQueueWritten(error, more);
        });
  }

  void OnQueueWritten(beast::error_code error, std::size_t more) {
    if (error == beast::error::timeout) return Drop();
    if (error || !open_) return End();
    written_of_front_ += more;
    if (written_of_front_ == queue_.front()->size()) {
      written_of_front_ = 0;
      queue_.pop_front();
      if (queue_.size() > 1) waiting_bytes_ -= queue_[1]->size();
    }
    if (!queue_.empty()) WriteQueue();
  }

  // Ends the stream of a slow consumer, and counts it as dropped. After a timeout, WatchForEnd may
  // already have ended the stream, because the timeout closes the connection.
  void Drop() {
    ++context_.dropped_streams;
    End();
  }

  void End() {
    if (!open_.exchange(false)) return;
    if (is_stream_) --context_.open_streams;
    deadline_.cancel();
    beast::error_code ignored;
    Tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    Tcp().close();
  }

  beast::tcp_stream& Tcp() { return beast::get_lowest_layer(stream_); }

  Stream stream_;
  // The deadline for reading a request.
  asio::steady_timer deadline_;
  uint64_t reads_ = 0;
  bool timed_out_ = false;
  SessionContext& context_;
  std::string peer_;
  beast::flat_buffer buffer_;
  std::optional<bhttp::request_parser<bhttp::string_body>> parser_;
  bhttp::response<bhttp::string_body> message_;
  bool answered_ = false;
  bool keep_alive_ = true;
  std::atomic<bool> open_{true};
  bool is_stream_ = false;
  // The first message in the queue is being written.
  std::deque<std::shared_ptr<const std::string>> queue_;
  std::size_t written_of_front_ = 0;
  // The total size in bytes of the third and later messages in queue_.
  std::size_t waiting_bytes_ = 0;
  std::size_t discarded_ = 0;
};

template <typename Stream>
void Session<Stream>::Handle() {
  const auto& message = parser_->get();
  keep_alive_ = message.keep_alive();
  Request received = ToRequest(message);
  received.peer = peer_;
  const auto request = std::make_shared<const Request>(std::move(received));
  if (message.count(bhttp::field::host) != 1) {
    return Refuse("bad_request", "the request must have exactly one Host header");
  }
  if (request->target.size() > context_.limits.target_bytes) {
    return Refuse("target_too_long", absl::StrCat("the address has more than ",
                                                  context_.limits.target_bytes, " bytes"));
  }
  context_.handler(*request, [self = this->shared_from_this(), request](Response response) {
    self->Answer(request, std::move(response));
  });
}

}  // namespace

std::weak_ptr<SessionHandle> StartSession(asio::ip::tcp::socket socket, SessionContext& context) {
  if (context.open_connections >= context.limits.connections + kRefusedAtOnce) return {};
  if (context.tls != nullptr) {
    // Close the connection without a response, because a response would require a TLS handshake.
    if (context.open_connections >= context.limits.connections) return {};
    using Tls = beast::ssl_stream<beast::tcp_stream>;
    auto session = std::make_shared<Session<Tls>>(Tls(std::move(socket), *context.tls), context);
    session->Greet();
    return session;
  }
  auto session =
      std::make_shared<Session<beast::tcp_stream>>(beast::tcp_stream(std::move(socket)), context);
  if (context.open_connections > context.limits.connections) {
    session->Refuse(
        "too_many_connections",
        absl::StrCat(context.limits.connections,
                     " connections are open, including event streams, and no more are allowed"));
  } else {
    session->Read();
  }
  return session;
}

}  // namespace trainyard::controller::http
