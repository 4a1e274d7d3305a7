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
      // The error of the work, or the end of the look; both are LibTorch's plain error. Work that
      // ended just after the look is complete here, too: only a wait of its own tells which.
      if (work.isCompleted()) break;
    }
  }
  if (!work.isCompleted()) return false;
  work.wait();
  return true;
}

}  // namespace trainyard::trainer
