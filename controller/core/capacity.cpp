#include "controller/core/capacity.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

constexpr int kHoursKept = 366 * 24;

void DropOld(v1::CapacityHistory& capacity) {
  const int dropped = capacity.slot_ms_size() - kHoursKept;
  if (dropped <= 0) return;
  auto& hours = *capacity.mutable_slot_ms();
  hours.erase(hours.begin(), hours.begin() + dropped);
  capacity.set_first_hour(capacity.first_hour() + dropped);
  capacity.set_since_ms(capacity.first_hour() * kHourMs);
}

}  // namespace

void CountCapacity(int64_t slots, Timestamp until, v1::CapacityHistory& capacity) {
  if (capacity.since_ms() == 0) {
    if (until <= 0) return;
    capacity.set_since_ms(until);
    capacity.set_until_ms(until);
    capacity.set_first_hour(until / kHourMs);
  }
  // After a gap longer than all that is kept, the hours before the newest ones are not visited.
  const Timestamp oldest = (until / kHourMs - kHoursKept) * kHourMs;
  if (capacity.until_ms() < oldest) {
    capacity.clear_slot_ms();
    capacity.set_since_ms(oldest);
    capacity.set_until_ms(oldest);
    capacity.set_first_hour(oldest / kHourMs);
  }
  while (capacity.until_ms() < until) {
    const int64_t hour = capacity.until_ms() / kHourMs;
    const Timestamp end = std::min(until, (hour + 1) * kHourMs);
    const auto index = static_cast<int>(hour - capacity.first_hour());
    while (capacity.slot_ms_size() <= index) capacity.add_slot_ms(0);
    capacity.set_slot_ms(index, capacity.slot_ms(index) + slots * (end - capacity.until_ms()));
    capacity.set_until_ms(end);
  }
  DropOld(capacity);
}

v1::CapacityHistory CapacityUntil(const ClusterState& state, Timestamp now) {
  v1::CapacityHistory capacity = state.capacity;
  if (capacity.since_ms() > 0) CountCapacity(state.present_slots, now, capacity);
  return capacity;
}

}  // namespace trainyard::controller
