// The slot time that queues and users have used, for fair share. Older use counts less: after a
// half-life it counts half. All computations are in integers, so that replaying a log gives equal
// bits on every machine.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_FAIR_SHARE_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_FAIR_SHARE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Seven days, as in Slurm's default (PriorityDecayHalfLife).
inline constexpr int64_t kUsageHalfLifeMs = int64_t{7} * 86'400'000;

// A queue, or a user within a queue. Slots of different kinds are counted apart, because they are
// not scarce in the same way.
struct UsageKey {
  v1::DeviceKind kind = v1::DEVICE_KIND_UNSPECIFIED;
  std::string queue;
  std::string user;  // Empty: the whole queue.
  friend auto operator<=>(const UsageKey&, const UsageKey&) = default;
};

struct Usage {
  // Decayed slot time until `at`, in slot-milliseconds.
  int64_t slot_ms = 0;
  Timestamp at = 0;
  // Slots held since `at`.
  int64_t held = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};

using UsageByKey = std::map<UsageKey, Usage>;

// The maximum number of queues and users with a usage, plus those that hold slots. Names of users
// come from clients, so their number has no other limit.
inline constexpr std::size_t kMaxUsages = 10'000;

// Drops the least usages until `kept` are left. Usages with held slots are not dropped. A dropped
// user counts as one who never held slots.
void DropUsages(Timestamp now, std::size_t kept, UsageByKey& usages);

// Returns the decayed slot time until `now`. If `now` is before usage.at, returns usage.slot_ms.
int64_t UsageAt(const Usage& usage, Timestamp now);

// Adds the use since usage.at, and continues with `held` slots.
void HoldFrom(Timestamp now, int64_t held, Usage& usage);

// Returns 2^62 * 2^(-elapsed_ms / kUsageHalfLifeMs), rounded down by less than 2^32. 0 after 62
// half-lives.
int64_t DecayFactor(int64_t elapsed_ms);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_FAIR_SHARE_H_
