// A connection pooler as far as a client can tell: it forwards all bytes, and invents the process
// id of the session.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_FAKE_POOLER_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_FAKE_POOLER_H_

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {

class FakePooler {
 public:
  // Serves one connection to the server whose socket is in `server_directory`.
  explicit FakePooler(const std::string& server_directory) {
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = AddressIn(directory_.path());
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    thread_ = std::thread([this, server_directory] { Serve(server_directory); });
  }
  FakePooler(const FakePooler&) = delete;
  FakePooler& operator=(const FakePooler&) = delete;
  ~FakePooler() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  const std::string& directory() const { return directory_.path(); }

 private:
  static sockaddr_un AddressIn(const std::string& directory) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (directory + "/.s.PGSQL.5432").c_str(),
                 sizeof(address.sun_path) - 1);
    return address;
  }

  void Serve(const std::string& server_directory) const {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    const int server = socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = AddressIn(server_directory);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
      while (Forward(client, server)) {
      }
    }
    close(server);
    close(client);
  }

  // Forwards what can be read. Returns false at the end of the connection.
  static bool Forward(int client, int server) {
    std::array<pollfd, 2> sockets{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
    if (poll(sockets.data(), sockets.size(), -1) < 0) return false;
    std::array<char, 16384> buffer{};
    const bool from_server = sockets[1].revents != 0;
    const ssize_t bytes = read(from_server ? server : client, buffer.data(), buffer.size());
    if (bytes <= 0) return false;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(bytes));
    // The message BackendKeyData: its length, then the process id.
    const std::size_t key = from_server ? text.find(std::string_view("K\0\0\0\x0c", 5)) : text.npos;
    if (key != text.npos) buffer[key + 8] = static_cast<char>(buffer[key + 8] ^ 1);
    return write(from_server ? client : server, text.data(), text.size()) == bytes;
  }

  TemporaryDirectory directory_;
  int listener_ = -1;
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_FAKE_POOLER_H_
