// Callbacks for readers that wait for new output of a job.
#ifndef TRAINYARD_CONTROLLER_RPC_LOG_FOLLOWERS_H_
#define TRAINYARD_CONTROLLER_RPC_LOG_FOLLOWERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace trainyard::controller {

// Thread-safe.
class LogFollowers {
 public:
  using Callback = std::function<void()>;

  // Calls `callback` at each Notify of the job until the returned handle is destroyed. A call
  // running on another thread may end after that.
  std::shared_ptr<Callback> Add(int64_t job_id, Callback callback) {
    auto handle = std::make_shared<Callback>(std::move(callback));
    const std::lock_guard lock(mutex_);
    // Notify removes expired followers, but it is never called for a job without output.
    if (followers_.size() >= prune_at_) Prune();
    followers_.emplace(job_id, handle);
    return handle;
  }

  // Returns the number of entries, including expired ones. The result is at most kSmallest plus
  // twice the highest number of followers that existed at the same time.
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return followers_.size();
  }
  static constexpr std::size_t kSmallest = 64;

  void Notify(int64_t job_id) {
    for (const auto& callback : Take(job_id)) (*callback)();
  }

 private:
  std::vector<std::shared_ptr<Callback>> Take(int64_t job_id) {
    std::vector<std::shared_ptr<Callback>> alive;
    const std::lock_guard lock(mutex_);
    const auto [first, last] = followers_.equal_range(job_id);
    for (auto it = first; it != last;) {
      if (auto handle = it->second.lock()) {
        alive.push_back(std::move(handle));
        ++it;
      } else {
        it = followers_.erase(it);
      }
    }
    return alive;
  }

  // Removes expired entries. Slow, but called only once per many calls of Add. Requires
  // mutex_.
  void Prune() {
    std::erase_if(followers_, [](const auto& follower) { return follower.second.expired(); });
    prune_at_ = std::max(kSmallest, 2 * followers_.size());
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  std::size_t prune_at_ = kSmallest;
  std::multimap<int64_t, std::weak_ptr<Callback>> followers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_LOG_FOLLOWERS_H_
