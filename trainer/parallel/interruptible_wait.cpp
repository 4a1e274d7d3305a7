#include "trainer/parallel/interruptible_wait.h"

#include <chrono>
#include <exception>

namespace trainyard::trainer {

bool WaitUnlessAborted(c10d::Work& work, const std::atomic<bool>& aborted) {
  constexpr std::chrono::milliseconds kLook{200};
  while (!aborted) {
    try {
      work.wait(kLook);
      return true;
    } catch (const std::exception&) {
      // Either the work failed or this wait timed out: LibTorch throws the same error type for
      // both. If the work is complete, it failed or finished just after the timeout. Another wait
      // shows which.
      if (work.isCompleted()) break;
    }
  }
  if (!work.isCompleted()) return false;
  work.wait();
  return true;
}

}  // namespace trainyard::trainer
