#include "trainer/parallel/interruption/interruptible_wait.h"

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
      // LibTorch throws the same error type if the work failed and if this wait timed out. If the
      // work is complete, it either failed or finished just after the timeout; the wait after the
      // loop shows which.
      if (work.isCompleted()) break;
    }
  }
  if (!work.isCompleted()) return false;
  work.wait();
  return true;
}

}  // namespace trainyard::trainer
