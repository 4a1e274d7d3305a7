#include "trainer/parallel/interruption/lost_store.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {
namespace {

std::terminate_handler previous = std::abort;
std::atomic<bool> stops_thread{false};
std::atomic<bool> has_stopped_thread{false};

bool IsOfConnection(const std::error_code& code) {
  return code == std::errc::connection_reset || code == std::errc::broken_pipe ||
         code == std::errc::connection_aborted || code == std::errc::timed_out;
}

[[noreturn]] void Leave() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::system_error& error) {
    if (IsOfConnection(error.code()) && stops_thread) {
      has_stopped_thread = true;
      for (;;) pause();
    }
    if (IsOfConnection(error.code())) {
      std::fprintf(stderr, "trainyard-trainer: The connection to rank 0's store broke: %s.\n",
                   error.what());
      _exit(static_cast<int>(ExitCode::kPeerLost));
    }
  } catch (...) {  // Reported by the previous terminate handler.
  }
  previous();
  std::abort();
}

}  // namespace

void LeaveWhenStoreIsLost() {
  const std::terminate_handler handler = std::set_terminate(Leave);
  if (handler != Leave) previous = handler;
}

void StopThreadWhenStoreIsLost() {
  stops_thread = true;
  LeaveWhenStoreIsLost();
}

bool HasStoppedStoreThread() { return has_stopped_thread; }

}  // namespace trainyard::trainer
