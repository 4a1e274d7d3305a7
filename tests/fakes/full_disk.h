// Simulates a full disk for this process only.
#ifndef TRAINYARD_TESTS_FAKES_FULL_DISK_H_
#define TRAINYARD_TESTS_FAKES_FULL_DISK_H_

#include <signal.h>
#include <sys/resource.h>

namespace trainyard {

// While the object exists, no file of this process or its children can grow beyond `bytes` bytes.
// For a writer this is like a full disk, except that the error is EFBIG instead of ENOSPC. No
// separate file system is needed. Only one object may exist at a time. Keep its scope small,
// because the test's report may also be written to a file.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : old_handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit = {bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_limit_{};
  const sighandler_t old_handler_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TESTS_FAKES_FULL_DISK_H_
