// Notifies long-lived streams that the controller is shutting down.
#ifndef TRAINYARD_CONTROLLER_API_CONTEXT_SHUTDOWN_SIGNAL_H_
#define TRAINYARD_CONTROLLER_API_CONTEXT_SHUTDOWN_SIGNAL_H_

#include <atomic>

#include "absl/status/status.h"

namespace trainyard::controller {

// Thread-safe. Streams check the signal after each tick.
class ShutdownSignal {
 public:
  void Raise() { raised_.store(true); }
  bool raised() const { return raised_.load(); }

  // The status with which open streams end.
  static absl::Status Status() {
    return absl::UnavailableError("the controller is shutting down; running jobs are not affected");
  }

 private:
  std::atomic<bool> raised_{false};
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CONTEXT_SHUTDOWN_SIGNAL_H_
