#include "controller/http/server.h"

#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/http/session.h"
#include "proto/support/asio.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

struct ListenAddress {
  std::string host;
  std::string port;
};

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  int port = 0;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(listen.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("--http-listen ", listen, ": expected HOST:PORT, such as 127.0.0.1:7071"));
  }
  return ListenAddress{listen.substr(0, colon), listen.substr(colon + 1)};
}

absl::Status WhyNotListening(const std::string& listen, const boost::system::error_code& error) {
  if (error == asio::error::address_in_use) {
    return absl::UnavailableError(
        absl::StrCat("the port of --http-listen ", listen,
                     " is in use by another program (another controller?); choose another port, or "
                     "set port 0 to use any free port"));
  }
  return absl::FailedPreconditionError(absl::StrCat("cannot listen on ", listen, ": ",
                                                    error.message(),
                                                    "; choose another address with --http-listen"));
}

}  // namespace

struct Server::Parts {
  explicit Parts(ServerLimits given) : limits(given) {}

  absl::Status UseTls(const TlsIdentity& identity) {
    if (identity.certificate.empty()) return absl::OkStatus();
    tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                    asio::ssl::context::no_tlsv1_1);
    boost::system::error_code error;
    tls.use_certificate_chain(asio::buffer(identity.certificate), error);
    if (!error) tls.use_private_key(asio::buffer(identity.key), asio::ssl::context::pem, error);
    if (error) {
      return absl::FailedPreconditionError(
          absl::StrCat("the certificate and the key do not match: ", error.message()));
    }
    session_context.tls = &tls;
    return absl::OkStatus();
  }

  void Accept() {
    acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || stopping) return;
      if (error) {
        // Most likely the process is out of file descriptors, so retry after other connections have
        // closed.
        spdlog::warn("http: cannot accept a connection: {}", error.message());
        retry.expires_after(std::chrono::milliseconds(200));
        retry.async_wait([this](boost::system::error_code) { Accept(); });
        return;
      }
      socket.set_option(tcp::no_delay(true), error);
      std::erase_if(sessions, [](const auto& session) { return session.expired(); });
      sessions.push_back(StartSession(std::move(socket), session_context));
      Accept();
    });
  }

  void Schedule(std::chrono::milliseconds interval,
                const std::shared_ptr<asio::steady_timer>& timer,
                const std::function<void()>& work) {
    timer->expires_after(interval);
    timer->async_wait([this, interval, timer, work](boost::system::error_code error) {
      if (error || stopping) return;
      work();
      Schedule(interval, timer, work);
    });
  }

  const ServerLimits limits;
  Handler handler;
  // `tls` and `session_context` are declared before `context`, so that they outlive it. The queues
  // of `context` may still contain connections that use both.
  asio::ssl::context tls{asio::ssl::context::tls_server};
  SessionContext session_context{limits, handler};
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer retry{context};
  std::string address;
  bool stopping = false;
  std::vector<std::weak_ptr<SessionHandle>> sessions;
  std::thread thread;
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() { Stop(); }

absl::StatusOr<std::unique_ptr<Server>> Server::Listen(const std::string& listen,
                                                       ServerLimits limits,
                                                       const TlsIdentity& tls) {
  const auto where = ParseListenAddress(listen);
  if (!where.ok()) return where.status();
  auto parts = std::make_unique<Parts>(limits);
  if (const absl::Status status = parts->UseTls(tls); !status.ok()) return status;
  boost::system::error_code error;
  std::string host = where->host;
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  tcp::resolver resolver(parts->context);
  const auto found = resolver.resolve(host, where->port, tcp::resolver::passive, error);
  if (error || found.empty()) return WhyNotListening(listen, error);
  const tcp::endpoint endpoint = found.begin()->endpoint();
  parts->acceptor.open(endpoint.protocol(), error);
  if (!error) parts->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) parts->acceptor.bind(endpoint, error);
  if (!error) parts->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return WhyNotListening(listen, error);
  parts->address = absl::StrCat(where->host, ":", parts->acceptor.local_endpoint().port());
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

void Server::BeforeAnswer(std::function<void()> check) {
  parts_->session_context.before_answer = std::move(check);
}

void Server::Start(Handler handler) {
  parts_->handler = std::move(handler);
  parts_->Accept();
  parts_->thread = std::thread([this] { parts_->context.run(); });
}

void Server::Stop() {
  if (!parts_->thread.joinable()) return;
  Post([this] {
    parts_->stopping = true;
    boost::system::error_code ignored;
    parts_->acceptor.close(ignored);
    for (const auto& weak : parts_->sessions) {
      if (const auto session = weak.lock()) session->Close();
    }
    // Stop after the connections are closed: work runs in the order in which it was posted.
    Post([this] { parts_->context.stop(); });
  });
  parts_->thread.join();
}

const std::string& Server::address() const { return parts_->address; }

StreamStatistics Server::Streams() const {
  const SessionContext& context = parts_->session_context;
  return {.open = context.open_streams, .dropped = context.dropped_streams};
}

void Server::Post(std::function<void()> work) { asio::post(parts_->context, std::move(work)); }

void Server::Every(std::chrono::milliseconds interval, std::function<void()> work) {
  parts_->Schedule(interval, std::make_shared<asio::steady_timer>(parts_->context), work);
}

}  // namespace trainyard::controller::http
