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

std::string KernelFunctionOf(pid_t thread) {
  const absl::StatusOr<std::string> text =
      ReadSmallFile(absl::StrCat("/proc/self/task/", thread, "/wchan"));
  // "0" means that the thread is running, or that this user may not read the file.
  if (!text.ok() || *text == "0") return "";
  return std::string(absl::StripAsciiWhitespace(*text));
}

}  // namespace

LoopWatch::LoopWatch(Limits limits, OnBlocked on_blocked)
    : limits_(limits),
      on_blocked_(std::move(on_blocked)),
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

bool LoopWatch::Sleep(std::unique_lock<std::mutex>& lock, milliseconds wait) {
  return !ended_.wait_for(lock, wait, [this] { return ending_; });
}

void LoopWatch::Watch() {
  std::unique_lock lock(mutex_);
  milliseconds wait = limits_.blocked_after;
  auto began = steady_clock::now();
  while (Sleep(lock, wait)) {
    // True if the whole process or its machine was paused. The watched thread then gets time to
    // call Beat.
    const bool overslept = steady_clock::now() - began > 2 * wait;
    began = steady_clock::now();
    wait = overslept ? limits_.blocked_after : limits_.blocked_after - SinceBeat();
    if (wait > milliseconds(0)) continue;
    wait = limits_.interval;
    lock.unlock();
    on_blocked_(KernelFunctionOf(watched_thread_));
    lock.lock();
  }
}

}  // namespace trainyard::worker
