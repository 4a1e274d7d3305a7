// The directory at the path of the checkpoint root, for the controller to compare between nodes.
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

// Reads the nonce in the directory. Makes the directory, and a nonce, where there is none: nodes
// that share the directory find the nonce of whoever came first. May wait for a file server that
// does not answer.
v1::CheckpointRoot LookAtRoot(const std::string& path);

// Looks twice a minute. For one thread.
class RootWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Look = std::function<v1::CheckpointRoot(const std::string& path)>;

  // Time after which a look counts as one that finds nothing. It goes on, and no other begins.
  static constexpr std::chrono::seconds kAnswerLimit{10};

  explicit RootWatch(Look look = LookAtRoot) : look_(std::move(look)) {}

  // A controller has named its root; the next Tick looks at once. Empty: there is none.
  void Begin(const std::string& path);

  // Begins and ends looks. True when the newest look differs from the one before: the controller is
  // to know now.
  bool Tick(Clock::time_point now);

  // The newest look; without a path before the first one.
  const v1::CheckpointRoot& newest() const { return newest_; }

  // The newest look, once.
  std::optional<v1::CheckpointRoot> TakeReport();

 private:
  bool Note(v1::CheckpointRoot seen);

  const Look look_;
  std::string path_;
  BackgroundLook<v1::CheckpointRoot> running_;
  Clock::time_point begun_;
  Clock::time_point due_;
  bool is_told_late_ = false;
  v1::CheckpointRoot newest_;
  bool has_report_ = false;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_ROOT_WATCH_H_
