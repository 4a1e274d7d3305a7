// Delays between retries.
#ifndef TRAINYARD_CONTROLLER_LOOP_RETRY_BACKOFF_H_
#define TRAINYARD_CONTROLLER_LOOP_RETRY_BACKOFF_H_

#include <algorithm>
#include <chrono>

namespace trainyard::controller {

// A retry delay that starts at 250 ms and doubles with each retry, up to 5 s. The delay is short
// enough to notice free disk space soon, and long enough that retries on a full disk cost little.
// Not thread-safe.
class RetryBackoff {
 public:
  std::chrono::milliseconds Next() {
    const std::chrono::milliseconds wait = next_;
    next_ = std::min(2 * next_, kMost);
    return wait;
  }
  void Reset() { next_ = kLeast; }

 private:
  static constexpr std::chrono::milliseconds kLeast{250};
  static constexpr std::chrono::milliseconds kMost{5000};

  std::chrono::milliseconds next_ = kLeast;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_RETRY_BACKOFF_H_
