// Rules by which data of ended jobs is removed. Pure.
#ifndef TRAINYARD_CONTROLLER_RETENTION_POLICY_H_
#define TRAINYARD_CONTROLLER_RETENTION_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

inline constexpr int64_t kDayMs = 24 * 3600 * 1000;

// Of one store.
struct RetentionRule {
  // Time after the end of a job; nothing: for ever.
  std::optional<int64_t> keep_ms;
  // Largest part of the data disk; 0: no bound.
  double disk_share = 0;
};

struct RetentionPolicy {
  RetentionRule logs{.keep_ms = 30 * kDayMs, .disk_share = 0.4};
  RetentionRule metrics{.keep_ms = 180 * kDayMs, .disk_share = 0.2};
  // Also of events of nodes, by their own time.
  RetentionRule events{.keep_ms = 365 * kDayMs, .disk_share = 0.2};
  // Whole jobs, as `trainyard delete` removes them; nothing: for ever.
  std::optional<int64_t> jobs_ms = 730 * kDayMs;
  // Jobs that are removed by jobs_ms take their checkpoints along.
  bool checkpoints_with_jobs = false;
};

// True when a thing that ended at this time is kept no longer.
bool IsDue(const std::optional<int64_t>& keep_ms, Timestamp ended_ms, Timestamp now);

// 0: no bound, because there is no share or the size of the disk is unknown.
int64_t BoundBytes(const RetentionRule& rule, int64_t disk_bytes);

// "logs 30d, at most 40% of the disk" and the like, one a kind.
std::vector<std::string> DescribePolicy(const RetentionPolicy& policy);

// The section `retention` of a configuration file; README.md lists its keys. INVALID_ARGUMENT names
// the key and what it takes.
absl::StatusOr<RetentionPolicy> ParseRetention(const std::string& yaml);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_POLICY_H_
