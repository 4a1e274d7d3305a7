// A disk without room, as a process can have it for itself.
#ifndef TRAINYARD_TESTS_FAKES_FULL_DISK_H_
#define TRAINYARD_TESTS_FAKES_FULL_DISK_H_

#include <signal.h>
#include <sys/resource.h>

namespace trainyard {

// While it lives, no file of this process, and of those that it starts, can grow beyond `bytes`:
// to a writer the same as a full disk (EFBIG stands for ENOSPC), and it needs no file system of
// its own. One at a time; keep its scope small, for a test's report may go to a file too.
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
