#include "controller/http/relay.h"

#include <utility>

// beast/core.hpp must precede Asio (see proto/support/asio.h).
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "boost/beast/ssl.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/http/beast_text.h"
#include "controller/http/content.h"
#include "controller/http/problem.h"
#include "proto/access/address.h"
#include "proto/access/certificate.h"
#include "proto/support/asio.h"

namespace trainyard::controller::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using asio::ip::tcp;

constexpr std::size_t kStreamBytes = 64 << 10;
constexpr char kEventStream[] = "text/event-stream";
// Headers of an answer that are passed on in addition to those of Response.
constexpr const char* kPassedHeaders[] = {"Allow", "Content-Disposition", "Location", "Retry-After",
                                          "Set-Cookie"};

bhttp::request<bhttp::string_body> ToMessage(const Request& request, const std::string& leader,
                                             bool encrypted) {
  bhttp::request<bhttp::string_body> message;
  message.version(11);
  message.method_string(request.method);
  message.target(request.target);
  message.keep_alive(false);
  message.set(kRelayHeader, "1");
  message.set(bhttp::field::host, leader);
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) message.set(name, value);
  };
  // The standby has checked that the page came from its own address.
  if (!request.origin.empty()) {
    message.set(bhttp::field::origin, absl::StrCat(encrypted ? "https://" : "http://", leader));
  }
  set("Content-Type", request.content_type);
  set("If-None-Match", request.if_none_match);
  set("Last-Event-ID", request.last_event_id);
  set("Authorization", request.authorization);
  set(kSessionHeader, request.session_secret);
  if (AcceptsGzip(request.accept_encoding)) message.set("Accept-Encoding", "gzip");
  message.body() = request.body;
  message.prepare_payload();
  return message;
}

// One request and its answer, on a connection of its own. Stream is either a TCP stream or TLS over
// a TCP stream. The call owns itself. Used on the relay's thread.
template <typename Stream>
class Call final : public std::enable_shared_from_this<Call<Stream>> {
 public:
  Call(Stream stream, std::string leader, const RelayLimits& limits, Request request,
       Respond respond)
      : stream_(std::move(stream)),
        resolver_(stream_.get_executor()),
        leader_(std::move(leader)),
        limits_(limits),
        target_(request.target),
        message_(ToMessage(request, leader_, kEncrypted)),
        respond_(std::move(respond)) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(limits_.header_bytes));
    parser_->body_limit(limits_.body_bytes);
    // An answer to HEAD has the length of the body, but no body.
    parser_->skip(request.method == "HEAD");
  }

  void Start() {
    const std::optional<HostAndPort> where = SplitAddress(leader_);
    if (!where.has_value()) return Fail("its address is not valid");
    Tcp().expires_after(limits_.connect);
    resolver_.async_resolve(where->host, absl::StrCat(where->port),
                            [self = this->shared_from_this()](beast::error_code error,
                                                              tcp::resolver::results_type found) {
                              if (error) return self->Fail(error.message());
                              self->Connect(found);
                            });
  }

 private:
  static constexpr bool kEncrypted = !std::is_same_v<Stream, beast::tcp_stream>;

  beast::tcp_stream& Tcp() { return beast::get_lowest_layer(stream_); }

  void Connect(const tcp::resolver::results_type& found) {
    Tcp().async_connect(
        found, [self = this->shared_from_this()](beast::error_code error, const tcp::endpoint&) {
          if (error) return self->Fail(error.message());
          self->Greet();
        });
  }

  void Greet() {
    if constexpr (kEncrypted) {
      stream_.async_handshake(asio::ssl::stream_base::client,
                              [self = this->shared_from_this()](beast::error_code error) {
                                if (error) return self->Fail(error.message());
                                self->Send();
                              });
    } else {
      Send();
    }
  }

  void Send() {
    Tcp().expires_after(limits_.answer);
    bhttp::async_write(
        stream_, message_, [self = this->shared_from_this()](beast::error_code error, std::size_t) {
          if (error) return self->Fail(error.message());
          bhttp::async_read_header(
              self->stream_, self->buffer_, *self->parser_,
              [self](beast::error_code failed, std::size_t) { self->OnHeader(failed); });
        });
  }

  void OnHeader(beast::error_code error) {
    if (error) return Fail(error.message());
    const auto& answer = parser_->get();
    if (absl::StartsWith(ToText(answer[bhttp::field::content_type]), kEventStream)) {
      return Respond_(
          {.content_type = kEventStream,
           .stream = [self = this->shared_from_this()](std::shared_ptr<StreamSink> sink) {
             // Called on the server's thread.
             asio::post(self->stream_.get_executor(), [self, sink = std::move(sink)] {
               self->sink_ = sink;
               self->PassOn(self->Buffered());
             });
           }});
    }
    bhttp::async_read(stream_, buffer_, *parser_,
                      [self = this->shared_from_this()](beast::error_code failed, std::size_t) {
                        if (failed) return self->Fail(failed.message());
                        self->Answer();
                      });
  }

  void Answer() {
    auto& answer = parser_->get();
    Response response{.status = static_cast<int>(answer.result_int()),
                      .content_type = ToText(answer[bhttp::field::content_type]),
                      .etag = ToText(answer[bhttp::field::etag]),
                      .gzipped = answer[bhttp::field::content_encoding] == "gzip",
                      .cache_control = ToText(answer[bhttp::field::cache_control])};
    for (const char* name : kPassedHeaders) {
      if (answer.count(name) != 0) response.headers.emplace_back(name, ToText(answer[name]));
    }
    response.body = std::move(answer.body());
    Respond_(std::move(response));
  }

  // Bytes of the stream that were read together with the header.
  std::string Buffered() {
    std::string bytes = parser_->get().body();
    bytes += beast::buffers_to_string(buffer_.data());
    buffer_.consume(buffer_.size());
    return bytes;
  }

  // Sends bytes of the stream to the client, and waits for more.
  void PassOn(std::string bytes) {
    if (!sink_->open()) return;
    if (!bytes.empty()) sink_->Send(std::make_shared<const std::string>(std::move(bytes)));
    Tcp().expires_after(limits_.answer);
    stream_.async_read_some(
        buffer_.prepare(kStreamBytes),
        [self = this->shared_from_this()](beast::error_code error, std::size_t count) {
          self->buffer_.commit(count);
          if (error) return self->sink_->Close();
          self->PassOn(self->Buffered());
        });
  }

  void Fail(const std::string& reason) {
    Response problem = ProblemResponse(
        absl::UnavailableError(absl::StrCat("this controller is a standby, and the leader's page "
                                            "at ",
                                            leader_, " does not answer: ", reason,
                                            ". If the leader has failed, a standby takes over "
                                            "within seconds; try again")),
        target_);
    Respond_(std::move(problem));
  }

  void Respond_(Response response) { std::exchange(respond_, nullptr)(std::move(response)); }

  Stream stream_;
  tcp::resolver resolver_;
  const std::string leader_;
  const RelayLimits limits_;
  const std::string target_;
  const bhttp::request<bhttp::string_body> message_;
  Respond respond_;
  beast::flat_buffer buffer_;
  std::optional<bhttp::response_parser<bhttp::string_body>> parser_;
  std::shared_ptr<StreamSink> sink_;
};

}  // namespace

struct Relay::Parts {
  absl::Status UseTls(const TlsIdentity& identity) {
    if (identity.certificate.empty()) return absl::OkStatus();
    const std::vector<Certificate> chain = CertificatesOf(identity.certificate);
    if (chain.empty()) {
      return absl::FailedPreconditionError("the certificate of this controller cannot be read");
    }
    tls.emplace(asio::ssl::context::tlsv12_client);
    tls->set_verify_mode(asio::ssl::verify_peer);
    // The certificate itself is compared, so its issuer and its names do not matter.
    tls->set_verify_callback([own = chain.front()](bool, asio::ssl::verify_context& presented) {
      X509_STORE_CTX* store = presented.native_handle();
      return X509_STORE_CTX_get_error_depth(store) > 0 ||
             X509_cmp(own.get(), X509_STORE_CTX_get_current_cert(store)) == 0;
    });
    return absl::OkStatus();
  }

  const RelayLimits limits;
  std::optional<asio::ssl::context> tls;
  // Declared after `tls`, because the connections in its queues use it.
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
  std::thread thread;
};

Relay::Relay(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

absl::StatusOr<std::unique_ptr<Relay>> Relay::Start(const TlsIdentity& tls,
                                                    const RelayLimits& limits) {
  auto parts = std::make_unique<Parts>(limits);
  if (absl::Status status = parts->UseTls(tls); !status.ok()) return status;
  parts->thread = std::thread([&context = parts->context] { context.run(); });
  return std::unique_ptr<Relay>(new Relay(std::move(parts)));
}

Relay::~Relay() {
  parts_->context.stop();
  parts_->thread.join();
}

void Relay::Forward(const std::string& leader, Request request, Respond respond) {
  asio::post(parts_->context, [parts = parts_.get(), leader, request = std::move(request),
                               respond = std::move(respond)]() mutable {
    const auto start = [&](auto stream) {
      using Stream = decltype(stream);
      std::make_shared<Call<Stream>>(std::move(stream), leader, parts->limits, std::move(request),
                                     std::move(respond))
          ->Start();
    };
    beast::tcp_stream plain(parts->context);
    if (parts->tls.has_value()) {
      start(beast::ssl_stream<beast::tcp_stream>(std::move(plain), *parts->tls));
    } else {
      start(std::move(plain));
    }
  });
}

}  // namespace trainyard::controller::http
