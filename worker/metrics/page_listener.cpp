#include <utility>

// Must be included before Asio (proto/support/asio.h).
#include "proto/support/asio.h"
#include "worker/metrics/page_listener.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <list>
#include <system_error>
#include <thread>

namespace trainyard::worker {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Response = http::response<http::string_body>;

constexpr std::size_t kRequestBytesMax = 8 << 10;

Response Answer(http::status status, std::string body = "") {
  constexpr unsigned kHttp11 = 11;
  Response response(status, kHttp11);
  response.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
  response.keep_alive(false);
  response.body() = std::move(body);
  response.prepare_payload();
  return response;
}

}  // namespace

// All members except `thread` are used only on the listener's thread.
struct PageListener::Parts {
  struct Connection {
    explicit Connection(tcp::socket accepted)
        : socket(std::move(accepted)), deadline(socket.get_executor()) {
      boost::system::error_code ignored;
      peer = socket.remote_endpoint(ignored).address();
      parser.header_limit(kRequestBytesMax);
      // The buffer is larger than a request may be, so that excess bytes are read. If a connection
      // is closed with unread bytes, the client may not get the answer.
      buffer.reserve(2 * kRequestBytesMax);
    }
    void Close() {
      boost::system::error_code ignored;
      deadline.cancel(ignored);
      socket.close(ignored);
    }
    tcp::socket socket;
    asio::steady_timer deadline;
    asio::ip::address peer;
    beast::flat_buffer buffer;
    http::request_parser<http::empty_body> parser;
    Response response;
  };
  using Shared = std::shared_ptr<Connection>;

  void Accept() {
    acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {
        // The process probably has no free descriptors, so wait until other connections are closed.
        retry.expires_after(std::chrono::milliseconds(200));
        retry.async_wait([this](boost::system::error_code) { Accept(); });
        return;
      }
      Serve(std::make_shared<Connection>(std::move(socket)));
      Accept();
    });
  }

  void Serve(const Shared& connection) {
    MakeRoom(connection->peer);
    connections.push_back(connection);
    connection->deadline.expires_after(limits.whole);
    connection->deadline.async_wait([this, connection](boost::system::error_code error) {
      if (!error) Close(connection);
    });
    http::async_read_header(connection->socket, connection->buffer, connection->parser,
                            [this, connection](boost::system::error_code error, std::size_t) {
                              OnRead(connection, error);
                            });
  }

  void OnRead(const Shared& connection, boost::system::error_code error) {
    if (!error) return Write(connection, AnswerTo(connection->parser.get()));
    if (error == http::error::header_limit) {
      return Write(connection, Answer(http::status::request_header_fields_too_large));
    }
    const bool has_ended =
        error == http::error::end_of_stream || error == http::error::partial_message;
    const auto& of_bytes = http::make_error_code(http::error::bad_method).category();
    if (has_ended || error.category() != of_bytes) return Close(connection);
    Write(connection, Answer(http::status::bad_request));
  }

  Response AnswerTo(const http::request<http::empty_body>& request) const {
    if (request.method() != http::verb::get) return Answer(http::status::method_not_allowed);
    const std::string target(request.target());
    if (target.substr(0, target.find('?')) != path) return Answer(http::status::not_found);
    return Answer(http::status::ok, render());
  }

  void Write(const Shared& connection, Response response) {
    connection->response = std::move(response);
    http::async_write(connection->socket, connection->response,
                      [this, connection](boost::system::error_code error, std::size_t) {
                        boost::system::error_code ignored;
                        if (!error)
                          connection->socket.shutdown(tcp::socket::shutdown_both, ignored);
                        Close(connection);
                      });
  }

  void Close(const Shared& connection) {
    connection->Close();
    connections.remove(connection);
  }

  // Closes the peer's oldest connection if the new connection would exceed the limit per peer.
  // Otherwise closes the oldest of all connections if the new one would exceed the total limit.
  void MakeRoom(const asio::ip::address& peer) {
    const auto is_of_peer = [&](const Shared& other) { return other->peer == peer; };
    if (std::ranges::count_if(connections, is_of_peer) >= limits.of_peer) {
      const Shared oldest = *std::ranges::find_if(connections, is_of_peer);
      Close(oldest);
    } else if (static_cast<int>(connections.size()) >= limits.of_all) {
      const Shared oldest = connections.front();
      Close(oldest);
    }
  }

  void Stop() {
    boost::system::error_code ignored;
    acceptor.close(ignored);
    for (const Shared& connection : connections) connection->Close();
    context.stop();
  }

  std::string path;
  std::function<std::string()> render;
  PageLimits limits;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer retry{context};
  // Oldest first.
  std::list<Shared> connections;
  std::thread thread;
};

absl::StatusOr<std::unique_ptr<PageListener>> PageListener::Start(
    const std::string& host, int port, std::string path, std::function<std::string()> render,
    PageLimits limits) {
  auto parts = std::make_unique<Parts>();
  parts->path = std::move(path);
  parts->render = std::move(render);
  parts->limits = limits;
  boost::system::error_code error;
  const auto address = asio::ip::make_address(host, error);
  const tcp::endpoint endpoint(address, static_cast<unsigned short>(port));
  if (!error) parts->acceptor.open(endpoint.protocol(), error);
  if (!error) parts->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) parts->acceptor.bind(endpoint, error);
  if (!error) parts->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return absl::UnavailableError(error.message());
  Parts& started = *parts;
  parts->Accept();
  try {
    parts->thread = std::thread([&started] { started.context.run(); });
  } catch (const std::system_error& failure) {
    return absl::UnavailableError(failure.what());
  }
  return std::unique_ptr<PageListener>(new PageListener(std::move(parts)));
}

PageListener::PageListener(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

PageListener::~PageListener() {
  asio::post(parts_->context, [this] { parts_->Stop(); });
  parts_->thread.join();
}

int PageListener::port() const { return parts_->acceptor.local_endpoint().port(); }

}  // namespace trainyard::worker
