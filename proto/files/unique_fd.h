// A file descriptor with one owner.
#ifndef TRAINYARD_PROTO_FILES_UNIQUE_FD_H_
#define TRAINYARD_PROTO_FILES_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace trainyard {

// Closes the descriptor in the destructor. -1 means none.
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
  // Releases ownership of the descriptor without closing it.
  int Release() { return std::exchange(fd_, -1); }
  // Closes the current descriptor, if any, and takes ownership of `fd`.
  void Reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_FILES_UNIQUE_FD_H_
