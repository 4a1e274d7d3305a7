// Observes the directory at the path of the checkpoint root, so that the controller can compare it
// between nodes.
#ifndef TRAINYARD_WORKER_ROOT_WATCH_H_
#define TRAINYARD_WORKER_ROOT_WATCH_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "trainyard/v1/worker_control.pb.h"
#include "worker/background_look.h"

namespace trainyard::worker {

// Reads the nonce in the directory. Creates the directory and a nonce if missing. All nodes that
// share the directory then find the nonce of the first one. May wait for a file server that does
// not answer.
v1::CheckpointRoot LookAtRoot(const std::string& path);

// Looks twice a minute. Used by one thread.
class RootWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Look = std::function<v1::CheckpointRoot(const std::string& path)>;

  // Time after which an unanswered look is reported as a problem. The look continues, and no other
  // begins.
  static constexpr std::chrono::seconds kAnswerLimit{10};

  explicit RootWatch(Look look = LookAtRoot) : look_(std::move(look)) {}

  // Sets the path of the controller's root; the next Tick looks at once. Empty: there is no root.
  void Begin(const std::string& path);

  // Begins and ends looks. Returns true if the newest look differs from the previous one, so the
  // controller should be informed now.
  bool Tick(Clock::time_point now);

  // The newest look; has no path before the first one.
  const v1::CheckpointRoot& newest() const { return newest_; }

  // Returns the newest look if it has not been returned yet, else nullopt.
  std::optional<v1::CheckpointRoot> TakeReport();

 private:
  bool Note(v1::CheckpointRoot seen);

  const Look look_;
  std::string path_;
  BackgroundLook<v1::CheckpointRoot> running_;
  Clock::time_point begun_;
  Clock::time_point due_;
  bool is_late_reported_ = false;
  v1::CheckpointRoot newest_;
  bool has_report_ = false;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_ROOT_WATCH_H_
