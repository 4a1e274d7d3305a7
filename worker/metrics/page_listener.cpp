#include <utility>

// Included before Asio: see proto/support/asio.h.
#include "proto/support/asio.h"
#include "worker/metrics/page_listener.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <list>
#include <system_error>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace trainyard::worker {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::size_t kRequestBytesMax = 8 << 10;

std::string Answer(const std::string& status, const std::string& body) {
  return absl::StrCat("HTTP/1.1 ", status,
                      "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8"
                      "\r\nConnection: close\r\nContent-Length: ",
                      body.size(), "\r\n\r\n", body);
}

}  // namespace

// All members except `thread` are for the listener's thread.
struct PageListener::Parts {
  struct Connection {
    explicit Connection(tcp::socket accepted)
        : socket(std::move(accepted)), deadline(socket.get_executor()) {
      boost::system::error_code ignored;
      peer = socket.remote_endpoint(ignored).address();
    }
    void Close() {
      boost::system::error_code ignored;
      deadline.cancel(ignored);
      socket.close(ignored);
    }
    tcp::socket socket;
    asio::steady_timer deadline;
    asio::ip::address peer;
    asio::streambuf request{kRequestBytesMax};
    std::string answer;
  };
  using Shared = std::shared_ptr<Connection>;

  void Accept() {
    acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {
        // Most likely out of descriptors: other connections must close first.
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
    asio::async_read_until(connection->socket, connection->request, "\r\n\r\n",
                           [this, connection](boost::system::error_code error, std::size_t) {
                             if (error == asio::error::not_found)
                               return Write(connection, Answer("431 Too Large", ""));
                             if (error) return Close(connection);
                             Write(connection, AnswerTo(connection->request));
                           });
  }

  std::string AnswerTo(const asio::streambuf& request) const {
    const std::string text(static_cast<const char*>(request.data().data()), request.size());
    const std::string line = text.substr(0, text.find("\r\n"));
    if (!absl::StartsWith(line, "GET ")) return Answer("405 Method Not Allowed", "");
    const std::string target = line.substr(4, line.find_first_of(" ?", 4) - 4);
    return target == path ? Answer("200 OK", render()) : Answer("404 Not Found", "");
  }

  void Write(const Shared& connection, std::string answer) {
    connection->answer = std::move(answer);
    asio::async_write(connection->socket, asio::buffer(connection->answer),
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

  // Closes the oldest connection of the peer, or of all peers, if the new one would exceed a limit.
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
