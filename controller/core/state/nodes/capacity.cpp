#include "controller/core/state/nodes/capacity.h"

#include <algorithm>
#include <utility>

namespace trainyard::controller {
namespace {

constexpr int kHoursKept = 366 * 24;

// Returns the start of the next full hour after `time`.
Timestamp NextHour(Timestamp time) { return (time / kHourMs + 1) * kHourMs; }

void DropOld(v1::CapacityHistory& capacity) {
  const int dropped = capacity.slot_ms_size() - kHoursKept;
  if (dropped <= 0) return;
  auto& hours = *capacity.mutable_slot_ms();
  hours.erase(hours.begin(), hours.begin() + dropped);
  capacity.set_first_hour(capacity.first_hour() + dropped);
  capacity.set_since_ms(capacity.first_hour() * kHourMs);
}

// Adds slot time to the hour that contains capacity.until_ms, then sets until_ms to `until`.
// `until` must not be later than the end of that hour.
void AddToHour(int64_t slot_ms, Timestamp until, v1::CapacityHistory& capacity) {
  const auto index = static_cast<int>(capacity.until_ms() / kHourMs - capacity.first_hour());
  while (capacity.slot_ms_size() <= index) capacity.add_slot_ms(0);
  capacity.set_slot_ms(index, capacity.slot_ms(index) + slot_ms);
  capacity.set_until_ms(until);
}

}  // namespace

void CountCapacity(int64_t slots, Timestamp until, v1::CapacityHistory& capacity) {
  if (capacity.since_ms() == 0) {
    if (until <= 0) return;
    capacity.set_since_ms(until);
    capacity.set_until_ms(until);
    capacity.set_first_hour(until / kHourMs);
  }
  // After a gap longer than the history, counting continues at the start of the oldest kept hour.
  const Timestamp oldest = (until / kHourMs - kHoursKept) * kHourMs;
  if (capacity.until_ms() < oldest) {
    capacity.clear_slot_ms();
    capacity.set_since_ms(oldest);
    capacity.set_until_ms(oldest);
    capacity.set_first_hour(oldest / kHourMs);
  }
  while (capacity.until_ms() < until) {
    const Timestamp end = std::min(until, NextHour(capacity.until_ms()));
    AddToHour(slots * (end - capacity.until_ms()), end, capacity);
  }
  DropOld(capacity);
}

void ShiftCapacity(int64_t step_ms, v1::CapacityHistory& capacity) {
  if (capacity.since_ms() == 0) return;
  v1::CapacityHistory moved;
  moved.set_since_ms(capacity.since_ms() + step_ms);
  moved.set_until_ms(moved.since_ms());
  moved.set_first_hour(moved.since_ms() / kHourMs);
  for (const int64_t slot_ms : capacity.slot_ms()) {
    const Timestamp begin = moved.until_ms();
    const Timestamp end = std::min(capacity.until_ms(), NextHour(begin - step_ms)) + step_ms;
    if (end <= begin) break;
    const Timestamp split = std::min(end, NextHour(begin));
    const double part = static_cast<double>(split - begin) / static_cast<double>(end - begin);
    const auto before = static_cast<int64_t>(static_cast<double>(slot_ms) * part);
    AddToHour(before, split, moved);
    if (split < end) AddToHour(slot_ms - before, end, moved);
  }
  DropOld(moved);
  capacity = std::move(moved);
}

v1::CapacityHistory CapacityUntil(const ClusterState& state, Timestamp now) {
  v1::CapacityHistory capacity = state.capacity;
  if (capacity.since_ms() > 0) CountCapacity(state.present_slots, now, capacity);
  return capacity;
}

}  // namespace trainyard::controller
