// TCP ports on the loopback interface, for tests.
#ifndef TRAINYARD_TESTS_TRAINER_PARALLEL_FREE_PORT_H_
#define TRAINYARD_TESTS_TRAINER_PARALLEL_FREE_PORT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace trainyard::trainer {

// Listens on a port chosen by the kernel until the object is destroyed.
class TakenPort {
 public:
  TakenPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t length = sizeof(address);
    bind(socket_, reinterpret_cast<sockaddr*>(&address), length);
    listen(socket_, 1);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
  }
  ~TakenPort() { close(socket_); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;

  int64_t port() const { return port_; }

 private:
  int socket_;
  int64_t port_ = 0;
};

// Returns a port on which no process listens.
inline int64_t FreePort() { return TakenPort().port(); }

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_PARALLEL_FREE_PORT_H_
