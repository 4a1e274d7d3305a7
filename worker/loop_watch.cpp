#include "worker/loop_watch.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string WaitsIn(pid_t thread) {
  const absl::StatusOr<std::string> text =
      ReadSmallFile(absl::StrCat("/proc/self/task/", thread, "/wchan"));
  // "0": it runs, or this user may not know.
  if (!text.ok() || *text == "0") return "";
  return std::string(absl::StripAsciiWhitespace(*text));
}

}  // namespace

LoopWatch::LoopWatch(Limits limits, std::function<void(const Blocked&)> told)
    : limits_(limits),
      told_(std::move(told)),
      watched_thread_(gettid()),
      beat_(steady_clock::now().time_since_epoch()),
      thread_([this] { Watch(); }) {}

LoopWatch::~LoopWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void LoopWatch::Beat() { beat_ = steady_clock::now().time_since_epoch(); }

milliseconds LoopWatch::SinceBeat() const {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now().time_since_epoch() -
                                                  beat_.load());
}

void LoopWatch::Watch() {
  std::unique_lock lock(mutex_);
  milliseconds wait = limits_.blocked_after;
  while (!ended_.wait_for(lock, wait, [this] { return ending_; })) {
    const milliseconds since = SinceBeat();
    wait = limits_.blocked_after - since;
    if (wait > milliseconds(0)) continue;
    wait = limits_.interval;
    if (since > limits_.most) continue;
    lock.unlock();
    told_({.since = since, .waits_in = WaitsIn(watched_thread_)});
    lock.lock();
  }
}

}  // namespace trainyard::worker
