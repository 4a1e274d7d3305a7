// Runs a check that may hang, for example on a file server, on a separate thread. No other thread
// waits for the check.
#ifndef TRAINYARD_WORKER_BACKGROUND_LOOK_H_
#define TRAINYARD_WORKER_BACKGROUND_LOOK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "proto/support/detached_thread.h"

namespace trainyard::worker {

// Runs at most one check at a time. Used by one thread.
template <typename Result>
class BackgroundLook {
 public:
  // True from a successful Begin until Take has returned the result.
  bool IsRunning() const { return round_ != nullptr; }

  // Runs `look` on a new thread. Call Begin only if no other `look` is running. Returns false if no
  // thread can be started. For `what`, see RunDetached.
  bool Begin(const std::string& what, std::function<Result()> look) {
    auto round = std::make_shared<Round>();
    const absl::Status started = RunDetached(what, [round, look = std::move(look)] {
      round->result = look();
      round->done = true;
    });
    if (started.ok()) round_ = std::move(round);
    return started.ok();
  }

  // Returns the result; nullopt while the result is not available.
  std::optional<Result> Take() {
    if (round_ == nullptr || !round_->done) return std::nullopt;
    return std::move(std::exchange(round_, nullptr)->result);
  }

 private:
  struct Round {
    Result result;
    // Set after `result`.
    std::atomic<bool> done{false};
  };

  std::shared_ptr<Round> round_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_BACKGROUND_LOOK_H_
