// A mounted file system whose server does not answer.
#ifndef TRAINYARD_TESTS_FAKES_HUNG_FILE_SYSTEM_H_
#define TRAINYARD_TESTS_FAKES_HUNG_FILE_SYSTEM_H_

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "proto/files/unique_fd.h"

namespace trainyard {

// While the object exists, every access to its directory or to files below it blocks in the kernel,
// where signals have no effect. Destroying the object wakes all blocked accesses with an error.
class HungFileSystem {
 public:
  // Reason for skipping a test that needs this file system.
  static constexpr char kSkipped[] = "needs root and /dev/fuse, to mount a file system that hangs";

  // Mounts the file system over the directory, which must exist.
  explicit HungFileSystem(std::string directory)
      : directory_(std::move(directory)),
        device_(open("/dev/fuse", O_RDWR | O_CLOEXEC)),
        stop_(eventfd(0, EFD_CLOEXEC)) {
    if (!device_.valid()) return;
    const std::string options =
        "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
    mounted_ = mount("hung", directory_.c_str(), "fuse", 0, options.c_str()) == 0;
    top_.Reset(open(directory_.c_str(), O_PATH | O_CLOEXEC));
    if (mounted_) server_ = std::thread([this] { Serve(); });
  }
  HungFileSystem(const HungFileSystem&) = delete;
  HungFileSystem& operator=(const HungFileSystem&) = delete;
  ~HungFileSystem() {
    if (!mounted_) return;
    eventfd_write(stop_.get(), 1);
    server_.join();
    device_.Reset();
    // Uses the descriptor, because the directory may have been renamed.
    umount2(("/proc/self/fd/" + std::to_string(top_.get())).c_str(), MNT_DETACH);
  }

  // False if this user may not mount file systems; the test must then be skipped.
  bool mounted() const { return mounted_; }

 private:
  // Reads every request of the kernel, but answers only the first request, which sets up the
  // connection.
  void Serve() {
    std::array<char, 1 << 17> buffer;
    for (;;) {
      std::array<pollfd, 2> waiters = {{{device_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
      if (poll(waiters.data(), waiters.size(), -1) < 0) continue;
      if (waiters[1].revents != 0) return;
      if (read(device_.get(), buffer.data(), buffer.size()) < 0) return;
      fuse_in_header request;
      std::memcpy(&request, buffer.data(), sizeof(request));
      if (request.opcode == FUSE_INIT) Greet(request.unique);
    }
  }

  void Greet(uint64_t request) const {
    struct {
      fuse_out_header header{};
      fuse_init_out body{};
    } answer;
    answer.header.len = sizeof(answer);
    answer.header.unique = request;
    answer.body.major = FUSE_KERNEL_VERSION;
    answer.body.minor = FUSE_KERNEL_MINOR_VERSION;
    answer.body.max_write = 4096;
    (void)!write(device_.get(), &answer, sizeof(answer));
  }

  const std::string directory_;
  UniqueFd device_;
  const UniqueFd stop_;
  bool mounted_ = false;
  UniqueFd top_;  // The mount point.
  std::thread server_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TESTS_FAKES_HUNG_FILE_SYSTEM_H_
