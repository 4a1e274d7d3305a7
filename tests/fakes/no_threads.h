// Simulates, for this process only, a machine that can start no further threads.
#ifndef TRAINYARD_TESTS_FAKES_NO_THREADS_H_
#define TRAINYARD_TESTS_FAKES_NO_THREADS_H_

#include <pthread.h>

#include <cstddef>

namespace trainyard {

// While the object exists, this process cannot start a thread with default attributes, because the
// thread's stack would not fit into the address space. The error is EAGAIN, as at the process
// limit. Only one object may exist at a time.
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
