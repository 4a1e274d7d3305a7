#include "trainer/parallel/interruption/flight_record.h"

#include <algorithm>
#include <chrono>

namespace trainyard::trainer {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

uint64_t FlightRecord::Queue(const Operation& operation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++queued_;
  At(queued_) = {
      .sequence = queued_, .kind = operation.kind, .bytes = BytesOf(operation), .queued = Now()};
  return queued_;
}

void FlightRecord::EnterUpTo(uint64_t sequence) {
  const double now = Now();
  const uint64_t oldest = queued_ < kKept ? 1 : queued_ - kKept + 1;
  for (uint64_t next = std::max(entered_ + 1, oldest); next <= sequence; ++next) {
    At(next).entered = now;
  }
  entered_ = std::max(entered_, sequence);
}

void FlightRecord::Enter(uint64_t sequence) {
  const std::lock_guard<std::mutex> lock(mutex_);
  EnterUpTo(std::min(sequence, queued_));
}

void FlightRecord::Leave(uint64_t sequence) {
  const std::lock_guard<std::mutex> lock(mutex_);
  sequence = std::min(sequence, queued_);
  EnterUpTo(sequence);
  left_ = std::max(left_, sequence);
}

uint64_t FlightRecord::Widen(uint32_t low_bits) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return queued_ - static_cast<uint32_t>(static_cast<uint32_t>(queued_) - low_bits);
}

FlightEntry FlightRecord::Current() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t sequence = left_ + 1;
  const bool is_kept = sequence <= queued_ && sequence + kKept > queued_;
  return is_kept ? entries_[sequence % kKept] : FlightEntry{.sequence = sequence};
}

uint64_t FlightRecord::moves() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entered_ + left_;
}

}  // namespace trainyard::trainer
