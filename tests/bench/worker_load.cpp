#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "tests/bench/load.h"
#include "tests/bench/simulated_worker.h"

namespace trainyard::bench {
namespace {

void Print(const nlohmann::json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

// True if standard input has ended. The parent process closes it to end the load.
bool InputEnded() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  char byte = 0;
  return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

using Fleet = std::vector<std::unique_ptr<SimulatedWorker>>;

bool AllWelcomed(Fleet& fleet) {
  for (const auto& worker : fleet) {
    if (!worker->welcomed()) return false;
  }
  return true;
}

}  // namespace

void RunWorkerLoad(const WorkerLoad& load) {
  Fleet fleet;
  for (int i = 0; i < load.workers; ++i) {
    fleet.push_back(std::make_unique<SimulatedWorker>(SimulatedWorker::Options{
        .controllers = load.controllers, .index = i, .slots = load.slots, .slow = load.slow}));
  }
  // The heartbeat interval is divided into slices of this length. Each slice sends a part of the
  // heartbeats, because real machines do not send theirs simultaneously, either.
  constexpr int64_t kSliceMs = 10;
  const int64_t begin_ms = NowMs();
  int64_t beats = 0;
  bool attached = false;
  while (!InputEnded()) {
    const int64_t due = (NowMs() - begin_ms) * load.workers / load.heartbeat_ms;
    for (; beats < due; ++beats) fleet[static_cast<std::size_t>(beats % load.workers)]->Beat();
    for (const auto& worker : fleet) worker->DialIfDue();
    const bool all = AllWelcomed(fleet);
    if (all && !attached) Print({{"attached", load.workers}, {"time_ms", NowMs()}});
    attached = all;
    std::this_thread::sleep_for(std::chrono::milliseconds(kSliceMs));
  }
  // Exits immediately, because ending 2,000 streams one by one would take long.
  std::_Exit(0);
}

}  // namespace trainyard::bench
