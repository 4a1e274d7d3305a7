// Watches the checkpoints and TensorBoard files of programs of others (checkpoint.watch,
// tensorboard) on threads of their own, because these files are on shared storage, which may not
// respond.
#ifndef TRAINYARD_WORKER_CHECKPOINT_WATCH_H_
#define TRAINYARD_WORKER_CHECKPOINT_WATCH_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/attempts.h"
#include "worker/core/watched_checkpoints.h"
#include "worker/watched_attempt.h"

namespace trainyard::worker {

// One rank of an attempt, the first one, stands for the attempt: its node watches the directory,
// and its telemetry gets the records. All functions must be called on the loop's thread.
class CheckpointWatch {
 public:
  // The limit on the time that the last look may delay the end of a rank. A file server that does
  // not respond must not keep the rank's slot.
  static constexpr std::chrono::seconds kLastLookLimit{10};

  using Places = std::function<WatchPlaces(const v1::StartAttempt&, const RankKey&)>;
  // `ended` is called on the loop's thread when the last look at a rank's checkpoints is over.
  CheckpointWatch(boost::asio::io_context& loop, Places places_of,
                  std::function<void(const RankKey&)> ended);
  // Does not wait for running looks.
  ~CheckpointWatch();

  // True if the attempt is watched, and through this rank.
  static bool Watches(const v1::StartAttempt& command, const RankKey& key);

  // Returns a function to call before the program of the rank starts, on any thread. It returns
  // after kLastLookLimit at the latest. Null if the rank's attempt is not watched through this
  // rank.
  std::function<void()> BeforeStart(const v1::StartAttempt& command, const RankKey& key);

  // Begins a look if one is due. All looks together use at most a tenth of one thread's time per
  // attempt. `step` is the newest step of the ranks.
  void Look(const v1::StartAttempt& command, const RankKey& key, int64_t step);

  // Begins the last look at the first call. Returns true once this look is over, or if none is
  // needed. `saved` states whether the program has ended as requested.
  bool IsOver(const v1::StartAttempt& command, const RankKey& key, bool saved, int64_t step);

  void Forget(const AttemptKey& attempt);

 private:
  using Clock = std::chrono::steady_clock;
  struct Watch {
    std::shared_ptr<WatchedAttempt> attempt;
    bool running = false;
    Clock::time_point due;
    bool is_last_begun = false;
    bool is_over = false;
    Clock::time_point deadline;
  };
  // Shared with the threads. `watch` is null after the CheckpointWatch was destroyed.
  struct Link {
    std::mutex mutex;
    CheckpointWatch* watch = nullptr;
  };

  Watch* Find(const v1::StartAttempt& command, const RankKey& key);
  static void Post(const std::shared_ptr<Link>& link, std::function<void(CheckpointWatch&)> done);
  void Finished(const RankKey& key, Clock::duration took);

  boost::asio::io_context& loop_;
  const Places places_of_;
  const std::function<void(const RankKey&)> ended_;
  const std::shared_ptr<Link> link_ = std::make_shared<Link>();
  std::map<RankKey, Watch> watches_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CHECKPOINT_WATCH_H_
