#include "trainer/signals.h"

#include <csignal>

#include <atomic>

namespace trainyard::trainer {
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<bool> save_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "A handler may only touch such atomics.");

void Remember(int signal) { (signal == SIGTERM ? stop_requested : save_requested) = true; }

}  // namespace

void WatchSignals() {
  struct sigaction action {};
  action.sa_handler = Remember;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
}

bool StopRequested() { return stop_requested; }

bool TakeSaveRequest() { return save_requested.exchange(false); }

}  // namespace trainyard::trainer
