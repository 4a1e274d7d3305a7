#include "trainer/parallel/interruption/interruption.h"

#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

Interruption::Listener::~Listener() {
  const std::lock_guard<std::mutex> lock(interruption_.mutex_);
  interruption_.first_.erase(number_);
  interruption_.others_.erase(number_);
}

std::unique_ptr<Interruption::Listener> Interruption::Listen(std::function<void()> end) {
  return Register(others_, std::move(end));
}

std::unique_ptr<Interruption::Listener> Interruption::ListenFirst(std::function<void()> begin) {
  return Register(first_, std::move(begin));
}

std::unique_ptr<Interruption::Listener> Interruption::Register(Functions& functions,
                                                               std::function<void()> function) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto listener = std::make_unique<Listener>(*this, next_);
  if (has_come_) function();
  functions.emplace(next_++, std::move(function));
  return listener;
}

void Interruption::Interrupt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_come_.exchange(true)) return;
  came_.notify_all();
  for (const auto& [_, begin] : first_) begin();
  std::vector<std::jthread> ending;
  for (const auto& [_, end] : others_) {
    try {
      ending.emplace_back(end);
    } catch (const std::system_error&) {  // The system could not start a thread.
      end();
    }
  }
}

void Interruption::CheckAfterWait() {
  constexpr std::chrono::seconds kLatestOrder{3};
  WaitFor(kLatestOrder);
  Check();
}

void Interruption::WaitFor(std::chrono::milliseconds limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  came_.wait_for(lock, limit, [this] { return has_come_.load(); });
}

void Interruption::Check() const {
  if (!has_come_) return;
  throw TrainerError(ExitCode::kPeerLost, "The gang is reconnecting, because a rank was lost.");
}

}  // namespace trainyard::trainer
