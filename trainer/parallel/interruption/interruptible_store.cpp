#include "trainer/parallel/interruption/interruptible_store.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Pauses between polls. The first pauses are short, because ranks usually arrive together. Later
// pauses are long, so that a thousand ranks can poll one process.
constexpr std::chrono::milliseconds kShortestPause{1};
constexpr std::chrono::milliseconds kLongestPause{50};

}  // namespace

InterruptibleStore::InterruptibleStore(const std::string& prefix,
                                       c10::intrusive_ptr<c10d::Store> store,
                                       const Interruption& interruption,
                                       std::chrono::milliseconds limit)
    : c10d::PrefixStore(prefix, std::move(store)), interruption_(interruption), limit_(limit) {}

std::vector<uint8_t> InterruptibleStore::get(const std::string& key) {
  wait({key});
  return c10d::PrefixStore::get(key);
}

void InterruptibleStore::wait(const std::vector<std::string>& keys) { wait(keys, limit_); }

void InterruptibleStore::wait(const std::vector<std::string>& keys,
                              const std::chrono::milliseconds& limit) {
  const auto end = std::chrono::steady_clock::now() + std::min(limit, limit_);
  std::chrono::milliseconds pause = kShortestPause;
  for (;;) {
    interruption_.Check();
    if (check(keys)) return;
    if (std::chrono::steady_clock::now() > end) {
      throw TrainerError(ExitCode::kPeerLost,
                         "a rank did not answer within " + std::to_string(limit.count()) + " ms");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace trainyard::trainer
