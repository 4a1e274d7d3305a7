#include "controller/hooks/hook_post.h"

#include "proto/support/asio.h"
// asio.h comes first to work around a bug in a Boost header.
#include <openssl/ssl.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/awaitable.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ssl/context.hpp"
#include "boost/asio/ssl/rfc2818_verification.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "boost/beast/ssl.hpp"

namespace trainyard::controller {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::use_awaitable;

// The maximum size of an HTTP response. Only its status is used.
constexpr std::size_t kAnswerBytesMax = 64 << 10;

using Request = http::request<http::string_body>;

Request RequestOf(const HookRule& rule, const HookNotice& notice) {
  Request request{http::verb::post, rule.url.target, 11};
  const bool has_own_port = rule.url.port != (rule.url.tls ? "443" : "80");
  request.set(http::field::host, has_own_port
                                     ? absl::StrCat(rule.url.HostText(), ":", rule.url.port)
                                     : rule.url.HostText());
  request.set(http::field::user_agent, "trainyard");
  request.set(http::field::content_type, "application/json");
  request.set("X-Trainyard-Event", notice.kind);
  request.set("X-Trainyard-Id", notice.id);
  const std::string signature = SignatureOf(rule, notice.body);
  if (!signature.empty()) request.set("X-Trainyard-Signature", signature);
  request.body() = notice.body;
  request.prepare_payload();
  return request;
}

// Sends the request and returns the status of the response.
template <typename Stream>
asio::awaitable<int> Exchange(Stream& stream, const Request& request) {
  co_await http::async_write(stream, request, use_awaitable);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kAnswerBytesMax);
  // Only the header is read, because it contains the status. The body may be malformed or of any
  // length.
  co_await http::async_read_header(stream, buffer, parser, use_awaitable);
  co_return parser.get().result_int();
}

asio::awaitable<int> Post(const HookRule& rule, const Request& request) {
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  const auto addresses =
      co_await resolver.async_resolve(rule.url.host, rule.url.port, use_awaitable);
  if (!rule.url.tls) {
    beast::tcp_stream stream(executor);
    stream.expires_after(rule.timeout);
    co_await stream.async_connect(addresses, use_awaitable);
    co_return co_await Exchange(stream, request);
  }
  asio::ssl::context tls(asio::ssl::context::tls_client);
  if (rule.ca_file.empty()) {
    tls.set_default_verify_paths();
  } else {
    tls.load_verify_file(rule.ca_file);
  }
  beast::ssl_stream<beast::tcp_stream> stream(executor, tls);
  stream.set_verify_mode(asio::ssl::verify_peer);
  stream.set_verify_callback(asio::ssl::rfc2818_verification(rule.url.host));
  SSL_set_tlsext_host_name(stream.native_handle(), rule.url.host.c_str());
  beast::get_lowest_layer(stream).expires_after(rule.timeout);
  co_await beast::get_lowest_layer(stream).async_connect(addresses, use_awaitable);
  co_await stream.async_handshake(asio::ssl::stream_base::client, use_awaitable);
  co_return co_await Exchange(stream, request);
}

absl::Status FailureOf(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const boost::system::system_error& failed) {
    if (failed.code() == beast::error::timeout)
      return absl::DeadlineExceededError("the server did not answer in time");
    return absl::UnavailableError(failed.code().message());
  } catch (const std::exception& failed) {
    return absl::UnavailableError(failed.what());
  }
}

}  // namespace

absl::Status PostHook(const HookRule& rule, const HookNotice& notice, CallCanceller& canceller) {
  asio::io_context io(1);
  const Request request = RequestOf(rule, notice);
  std::optional<absl::Status> result;
  if (!canceller.Enter(&io)) return absl::CancelledError("the controller is stopping");
  asio::co_spawn(io, Post(rule, request), [&](const std::exception_ptr& error, int status) {
    if (error != nullptr) {
      result = FailureOf(error);
    } else if (status < 200 || status > 299) {
      result = absl::UnavailableError(absl::StrCat("the server answered with status ", status));
    } else {
      result = absl::OkStatus();
    }
  });
  // Limits the whole call, because the host name lookup has no timeout of its own.
  io.run_for(rule.timeout + std::chrono::seconds(1));
  canceller.Leave();
  if (result.has_value()) return *result;
  if (canceller.cancelled()) return absl::CancelledError("the controller is stopping");
  return absl::DeadlineExceededError("the server did not answer in time");
}

}  // namespace trainyard::controller
