#include "trainer/healing/order_watch.h"

#include <utility>

namespace trainyard::trainer {
namespace {

constexpr std::chrono::milliseconds kInterval{10};

}  // namespace

OrderWatch::OrderWatch(std::string path) : path_(std::move(path)) {
  interruptions_.push_back(std::make_unique<Interruption>());
  thread_ = std::thread([this] { Run(); });
}

OrderWatch::~OrderWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Interruption& OrderWatch::interruption() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return *interruptions_.back();
}

bool OrderWatch::HasLater() const {
  return newest_.has_value() && (newest_->done || newest_->generation > generation_);
}

std::optional<HealOrder> OrderWatch::Await(std::optional<std::chrono::milliseconds> limit,
                                           const std::function<bool()>& gives_up) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!HasLater()) {
    const bool is_over = limit.has_value() && std::chrono::steady_clock::now() - start > *limit;
    if (is_over || gives_up()) return std::nullopt;
    changed_.wait_for(lock, kInterval);
  }
  if (newest_->done) return newest_;
  generation_ = newest_->generation;
  interruptions_.push_back(std::make_unique<Interruption>());
  return newest_;
}

void OrderWatch::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    lock.unlock();
    Look();
    lock.lock();
    changed_.wait_for(lock, kInterval, [this] { return ending_; });
  }
}

// Interrupts after releasing the lock, because interrupting may take a while and other threads may
// need the lock.
void OrderWatch::Look() {
  std::optional<HealOrder> order = ReadHealOrder(path_);
  if (!order.has_value()) return;
  Interruption* overtaken = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    newest_ = std::move(order);
    if (!newest_->done && HasLater()) overtaken = interruptions_.back().get();
  }
  changed_.notify_all();
  if (overtaken != nullptr) overtaken->Interrupt();
}

}  // namespace trainyard::trainer
