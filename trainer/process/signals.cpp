#include "trainer/process/signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

std::atomic<bool> stop_is_deferred{false};
std::atomic<bool> stop_requested{false};
std::atomic<bool> save_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "A handler may only touch such atomics.");

void Remember(int signal) {
  if (signal == SIGTERM && !stop_is_deferred) _exit(static_cast<int>(ExitCode::kTerminated));
  (signal == SIGTERM ? stop_requested : save_requested) = true;
}

}  // namespace

void WatchSignals() {
  struct sigaction action {};
  action.sa_handler = Remember;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
  // With SIGPIPE ignored, a write to a dead peer fails with an error instead of killing this rank.
  signal(SIGPIPE, SIG_IGN);
}

void DeferStop() { stop_is_deferred = true; }

bool StopRequested() { return stop_requested; }

bool TakeSaveRequest() { return save_requested.exchange(false); }

void RepeatSaveRequest() { save_requested = true; }

}  // namespace trainyard::trainer
