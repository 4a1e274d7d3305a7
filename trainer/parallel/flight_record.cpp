#include "trainer/parallel/flight_record.h"

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

template <typename Mark>
void FlightRecord::MarkUpTo(uint64_t sequence, uint64_t& marked, const Mark& mark) {
  sequence = std::min(sequence, queued_);
  const uint64_t oldest = queued_ < kKept ? 1 : queued_ - kKept + 1;
  for (uint64_t next = std::max(marked + 1, oldest); next <= sequence; ++next) mark(At(next));
  marked = std::max(marked, sequence);
}

void FlightRecord::Enter(uint64_t sequence) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MarkUpTo(sequence, entered_, [now = Now()](FlightEntry& entry) { entry.entered = now; });
}

void FlightRecord::Leave(uint64_t sequence) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const double now = Now();
  MarkUpTo(sequence, entered_, [now](FlightEntry& entry) { entry.entered = now; });
  MarkUpTo(sequence, left_, [now](FlightEntry& entry) { entry.left = now; });
}

void FlightRecord::Restart() {
  const std::lock_guard<std::mutex> lock(mutex_);
  queued_ = entered_ = left_ = 0;
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

std::vector<FlightEntry> FlightRecord::Entries() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<FlightEntry> entries;
  for (uint64_t i = std::min(queued_, kKept); i > 0; --i) {
    entries.push_back(entries_[(queued_ - i + 1) % kKept]);
  }
  return entries;
}

}  // namespace trainyard::trainer
