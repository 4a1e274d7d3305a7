#include "controller/hand_over_exit.h"

#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>

#include "controller/loop/leader_guard.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

// The time that open calls have to finish.
constexpr std::chrono::milliseconds kHandOverGrace{200};
constexpr std::chrono::milliseconds kHandOverLimit{800};

[[noreturn]] void ExitNow() {
  spdlog::default_logger()->flush();
  std::_Exit(kExitLeadershipLost);
}

}  // namespace

void ExitToHandOver(Controller& controller) {
  spdlog::info("handing over; this controller continues as a standby at its next start");
  std::promise<void> ended;
  std::thread([done = ended.get_future()] {
    if (done.wait_for(kHandOverLimit) == std::future_status::ready) return;
    spdlog::warn("some calls did not end within {} ms; no acknowledged change is lost",
                 kHandOverLimit.count());
    ExitNow();
  }).detach();
  controller.EndService(kHandOverGrace);
  ExitNow();
}

}  // namespace trainyard::controller
