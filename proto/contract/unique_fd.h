// A file descriptor with one owner.
#ifndef TRAINYARD_PROTO_CONTRACT_UNIQUE_FD_H_
#define TRAINYARD_PROTO_CONTRACT_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace trainyard {

// Closes its descriptor in the destructor. -1 means none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(other.Release());
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Gives up the descriptor without closing it.
  int Release() { return std::exchange(fd_, -1); }
  // Closes the present descriptor, if any, and owns `fd` from now on.
  void Reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_UNIQUE_FD_H_
