#include "worker/checkpoint_watch.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/detached_thread.h"
#include "worker/core/processes.h"

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestPauseOfLooks(400);
constexpr int kPauseFactor = 9;  // A pause lasts kPauseFactor times as long as the look before it.
// Looks after the end of a program that has saved its checkpoints.
constexpr milliseconds kLastLooksEvery(300);
constexpr int kMostLastLooks = 15;

// Looks until every file is complete, or does not become complete in time.
void LookLast(WatchedAttempt& attempt, bool saved, int64_t step) {
  if (!saved) {
    attempt.Look(WatchLook::kFailed, step);
    return;
  }
  for (int i = 0; i < kMostLastLooks && attempt.Look(WatchLook::kSaved, step); ++i) {
    std::this_thread::sleep_for(kLastLooksEvery);
  }
}

}  // namespace

CheckpointWatch::CheckpointWatch(boost::asio::io_context& loop, Places places_of,
                                 std::function<void(const RankKey&)> ended)
    : loop_(loop), places_of_(std::move(places_of)), ended_(std::move(ended)) {
  link_->watch = this;
}

CheckpointWatch::~CheckpointWatch() {
  const std::lock_guard lock(link_->mutex);
  link_->watch = nullptr;
}

bool CheckpointWatch::Watches(const v1::StartAttempt& command, const RankKey& key) {
  const v1::JobSpec& spec = command.spec();
  const bool has_files = !spec.checkpoint().watch().empty() || !spec.tensorboard().empty();
  return has_files && key.rank == 0;
}

// Returns null if the attempt is not watched through this rank.
CheckpointWatch::Watch* CheckpointWatch::Find(const v1::StartAttempt& command, const RankKey& key) {
  if (!Watches(command, key)) return nullptr;
  Watch& watch = watches_[key];
  if (watch.attempt == nullptr) {
    watch.attempt = std::make_shared<WatchedAttempt>(command, places_of_(command, key));
  }
  return &watch;
}

std::function<void()> CheckpointWatch::BeforeStart(const v1::StartAttempt& command,
                                                   const RankKey& key) {
  const Watch* watch = Find(command, key);
  if (watch == nullptr) return nullptr;
  return [attempt = watch->attempt] {
    auto done = std::make_shared<std::promise<void>>();
    const absl::Status started = RunDetached("read the checkpoint directory", [attempt, done] {
      attempt->Begin();
      done->set_value();
    });
    if (started.ok()) done->get_future().wait_for(kLastLookLimit);
  };
}

// Calls `done` on the loop's thread, unless the CheckpointWatch was destroyed.
void CheckpointWatch::Post(const std::shared_ptr<Link>& link,
                           std::function<void(CheckpointWatch&)> done) {
  // Hold the lock until post returns. The destructor waits for the lock, so the loop still exists.
  const std::lock_guard lock(link->mutex);
  if (link->watch == nullptr) return;
  boost::asio::post(link->watch->loop_, [link, done = std::move(done)] {
    if (link->watch != nullptr) done(*link->watch);
  });
}

void CheckpointWatch::Look(const v1::StartAttempt& command, const RankKey& key, int64_t step) {
  Watch* watch = Find(command, key);
  if (watch == nullptr || watch->running || watch->is_last_begun || Clock::now() < watch->due) {
    return;
  }
  watch->running =
      RunDetached("watch checkpoints", [link = link_, attempt = watch->attempt, key, step] {
        const Clock::time_point begin = Clock::now();
        attempt->Look(WatchLook::kRunning, step);
        const auto took = Clock::now() - begin;
        Post(link, [key, took](CheckpointWatch& self) { self.Finished(key, took); });
      }).ok();
}

void CheckpointWatch::Finished(const RankKey& key, Clock::duration took) {
  const auto found = watches_.find(key);
  if (found == watches_.end()) return;
  found->second.running = false;
  found->second.due =
      Clock::now() + std::max<Clock::duration>(kShortestPauseOfLooks, kPauseFactor * took);
}

bool CheckpointWatch::IsOver(const v1::StartAttempt& command, const RankKey& key, bool saved,
                             int64_t step) {
  Watch* watch = Find(command, key);
  if (watch == nullptr || watch->is_over) return true;
  if (watch->is_last_begun) return Clock::now() >= watch->deadline;
  watch->is_last_begun = true;
  watch->deadline = Clock::now() + kLastLookLimit;
  const absl::Status started =
      RunDetached("watch checkpoints", [link = link_, attempt = watch->attempt, key, saved, step] {
        LookLast(*attempt, saved, step);
        Post(link, [key](CheckpointWatch& self) {
          const auto found = self.watches_.find(key);
          if (found == self.watches_.end()) return;
          found->second.is_over = true;
          self.ended_(key);
        });
      });
  if (!started.ok()) watch->is_over = true;
  return watch->is_over;
}

void CheckpointWatch::Forget(const AttemptKey& attempt) {
  std::erase_if(watches_, [&](const auto& entry) { return entry.first.attempt == attempt; });
}

}  // namespace trainyard::worker
