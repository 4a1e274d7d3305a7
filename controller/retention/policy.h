// Rules for removing data of ended jobs. Pure.
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

// The rule of one store.
struct RetentionRule {
  // Time to keep data after the end of a job; nullopt means forever.
  std::optional<int64_t> keep_ms;
  // Maximum share of the data disk; 0 means no limit.
  double disk_share = 0;
};

struct RetentionPolicy {
  RetentionRule logs{.keep_ms = 30 * kDayMs, .disk_share = 0.4};
  RetentionRule metrics{.keep_ms = 180 * kDayMs, .disk_share = 0.2};
  // This rule also applies to node events, by the time of the event.
  RetentionRule events{.keep_ms = 365 * kDayMs, .disk_share = 0.2};
  // Age at which whole jobs are removed as by `trainyard delete`; nullopt means never.
  std::optional<int64_t> jobs_ms = 730 * kDayMs;
  // True if jobs removed by jobs_ms lose their checkpoints too.
  bool checkpoints_with_jobs = false;
};

// True if the data of a job that ended at this time need no longer be kept.
bool IsDue(const std::optional<int64_t>& keep_ms, Timestamp ended_ms, Timestamp now);

// Limit on the store's size in bytes. Returns 0 (no limit) if there is no share or the size of the
// disk is unknown.
int64_t BoundBytes(const RetentionRule& rule, int64_t disk_bytes);

// Texts such as "logs 30d, at most 40% of the disk", one per kind.
std::vector<std::string> DescribePolicy(const RetentionPolicy& policy);

// Parses the section `retention` of a configuration file; deploy/README.md lists its keys.
// INVALID_ARGUMENT names the key and its valid values.
absl::StatusOr<RetentionPolicy> ParseRetention(const std::string& yaml);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_POLICY_H_
