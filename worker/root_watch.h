// Observes the directory at the path of the checkpoint root. The controller compares the results of
// all nodes.
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

// Reads the nonce in the directory. Creates the directory and the nonce if they are missing. The
// first node creates the nonce, and all nodes that share the directory find the same nonce. May
// hang if a file server does not answer.
v1::CheckpointRoot LookAtRoot(const std::string& path);

// Checks the directory twice a minute. Used by one thread.
class RootWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Look = std::function<v1::CheckpointRoot(const std::string& path)>;

  // If a check takes longer than this, a problem is reported. The check continues, and no other
  // check is started meanwhile.
  static constexpr std::chrono::seconds kAnswerLimit{10};

  explicit RootWatch(Look look = LookAtRoot) : look_(std::move(look)) {}

  // Sets the path of the controller's root; the next Tick checks it at once. An empty path means
  // that there is no root.
  void Begin(const std::string& path);

  // Starts checks and collects their results. Returns true if the newest result differs from the
  // previous one, so that the controller should be informed now.
  bool Tick(Clock::time_point now);

  // The newest result. Before the first result, the path in it is empty.
  const v1::CheckpointRoot& newest() const { return newest_; }

  // Returns the newest result; nullopt if TakeReport has already returned it.
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
