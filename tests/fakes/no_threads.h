// A machine that has no thread left, as a process can have it for itself.
#ifndef TRAINYARD_TESTS_FAKES_NO_THREADS_H_
#define TRAINYARD_TESTS_FAKES_NO_THREADS_H_

#include <pthread.h>

#include <cstddef>

namespace trainyard {

// While it lives, no thread of default attributes can be started in this process (EAGAIN, as at the
// limit of processes): their stacks would be larger than any address space. One at a time.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&old_);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 50);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    pthread_setattr_default_np(&old_);
    pthread_attr_destroy(&old_);
  }

 private:
  pthread_attr_t old_{};
};

}  // namespace trainyard

#endif  // TRAINYARD_TESTS_FAKES_NO_THREADS_H_
