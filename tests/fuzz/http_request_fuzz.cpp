// Fuzzes the HTTP server's own parser. Each input is the bytes of one connection. The server must
// answer or close the connection, and must still answer the next client.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "controller/http/guard.h"
#include "controller/http/server.h"
#include "controller/http/target.h"
#include "tests/fuzz/fuzz_target.h"

namespace trainyard::controller::http {
namespace {

// Longer than the server may take for any input, and shorter than the driver's time limit.
constexpr int kTimeoutSeconds = 5;

std::unique_ptr<Server> StartServer() {
  auto server = Server::Listen("127.0.0.1:0");
  FUZZ_EXPECT(server.ok());
  (*server)->Start([](Request request, const Respond& respond) {
    const std::string refused = WhyRefused(request, {});
    respond({.body = refused + request.target + request.body});
  });
  return *std::move(server);
}

class Connection {
 public:
  explicit Connection(const std::string& address) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.find(':') + 1))));
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval read_timeout{kTimeoutSeconds, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &read_timeout, sizeof read_timeout);
    // Makes close() reset the connection, which leaves no port in TIME_WAIT. Otherwise a long run
    // would use up all ports.
    const linger at_once{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    FUZZ_EXPECT(connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0);
  }
  ~Connection() { close(fd_); }

  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void EndOfInput() { shutdown(fd_, SHUT_WR); }

  // Reads until the server closes the connection.
  std::string ReadAll() {
    std::string all;
    char bytes[4096];
    while (true) {
      const ssize_t got = recv(fd_, bytes, sizeof bytes, 0);
      FUZZ_EXPECT(got >= 0 || errno != EAGAIN);
      if (got <= 0) return all;
      all.append(bytes, static_cast<std::size_t>(got));
    }
  }

 private:
  const int fd_;
};

}  // namespace
}  // namespace trainyard::controller::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard::controller::http;
  static const std::unique_ptr<Server> server = StartServer();
  Connection connection(server->address());
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // Sends the input in two pieces, so that the server has to reassemble it.
  connection.Send(input.substr(0, size / 2));
  connection.Send(input.substr(size / 2));
  connection.EndOfInput();
  const std::string answer = connection.ReadAll();
  FUZZ_EXPECT(answer.empty() || answer.starts_with("HTTP/1."));
  return 0;
}
