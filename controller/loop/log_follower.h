// Keeps the state of the leader in a standby, so that a take-over needs only the last events.
#ifndef TRAINYARD_CONTROLLER_LOOP_LOG_FOLLOWER_H_
#define TRAINYARD_CONTROLLER_LOOP_LOG_FOLLOWER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/kernel/replayed_state.h"
#include "controller/loop/retry_backoff.h"
#include "controller/store/events/log_tail.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class LogFollower {
 public:
  using OpenTail = std::function<absl::StatusOr<std::unique_ptr<LogTail>>()>;

  // `poll_every` is the time between two looks at the log.
  // Uses the steady time of `clock`, which must outlive the follower.
  LogFollower(OpenTail open_tail, const Clock& clock,
              std::chrono::milliseconds poll_every = std::chrono::milliseconds(200));
  // Stops.
  ~LogFollower();

  // Starts the thread that follows the log. Call at most once.
  void Start();

  // Number of the last applied event; 0 if there is no state at present. Thread-safe.
  int64_t position() const { return position_; }
  // The reason why this program cannot take over from the leader; empty if it can. Thread-safe.
  std::string Problem() const;

  // Stops the thread and returns the state. Waits for the batch in progress. Returns null if there
  // is no state, or if the session with the database has ended.
  std::shared_ptr<ReplayedState> Take();

 private:
  void Stop();
  void Run();
  // Applies all events that the log has at present.
  absl::Status CatchUp();
  absl::Status ApplyBatch(LogTail::Batch batch);
  void Forget();
  bool IsStopping() const;

  const OpenTail open_tail_;
  const Clock& clock_;
  const std::chrono::milliseconds poll_every_;
  std::atomic<int64_t> position_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // Guarded by mutex_.
  std::string problem_;    // Guarded by mutex_.
  // Used only on the thread, and after its end.
  std::unique_ptr<LogTail> tail_;
  std::shared_ptr<ReplayedState> replayed_;
  std::string error_;  // The last logged error, which is not logged again.
  // Each attempt may read a large snapshot.
  RetryBackoff backoff_;
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_LOG_FOLLOWER_H_
