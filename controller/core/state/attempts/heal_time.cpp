#include "controller/core/state/attempts/heal_time.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

struct HealTime {
  int64_t ended_ms = 0;  // The time of the heals that have ended.
  // The start of the heals that have not completed a step yet. 0 if there are none.
  Timestamp since = 0;
};

HealTime TimeOf(const v1::Attempt& attempt) {
  HealTime time;
  Timestamp at = attempt.placed_time_ms();
  for (const v1::Heal& heal : attempt.heals()) {
    const Timestamp failed = heal.verdict().time_ms();
    const Timestamp begin = at < failed && failed < heal.began_ms() ? failed : heal.began_ms();
    if (time.since == 0) time.since = std::max(begin, at);
    if (heal.healed_ms() == 0) continue;
    time.ended_ms += std::max<int64_t>(0, heal.healed_ms() - time.since);
    at = std::max(at, heal.healed_ms());
    time.since = 0;
  }
  return time;
}

}  // namespace

int64_t HealedMs(const v1::Attempt& attempt, Timestamp until) {
  const HealTime time = TimeOf(attempt);
  return time.ended_ms + (time.since == 0 ? 0 : std::max<int64_t>(0, until - time.since));
}

Timestamp HealingSince(const v1::Attempt& attempt) { return TimeOf(attempt).since; }

}  // namespace trainyard::controller
