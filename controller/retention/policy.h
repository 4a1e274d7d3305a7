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

// The limits of one store: the time for which it keeps data, and its size.
struct RetentionRule {
  // Time to keep data after the end of a job; nullopt means forever.
  std::optional<int64_t> keep_ms;
  // The maximum share of the data disk, 0 to 1; 0 means no limit.
  double disk_share = 0;
};

struct RetentionPolicy {
  RetentionRule logs{.keep_ms = 30 * kDayMs, .disk_share = 0.4};
  RetentionRule metrics{.keep_ms = 180 * kDayMs, .disk_share = 0.2};
  // This rule also applies to node events. Their age counts from the event instead of the end of a
  // job.
  RetentionRule events{.keep_ms = 365 * kDayMs, .disk_share = 0.2};
  // The age at which whole jobs are removed, as `trainyard delete` does it; nullopt means never.
  std::optional<int64_t> jobs_ms = 730 * kDayMs;
  // True if the removal of whole jobs (jobs_ms) also removes their checkpoints.
  bool checkpoints_with_jobs = false;
};

// True if the data of a job that ended at `ended_ms` has been kept long enough.
bool IsDue(const std::optional<int64_t>& keep_ms, Timestamp ended_ms, Timestamp now);

// Returns the limit on the store's size in bytes. Returns 0 (no limit) if the rule has no disk
// share or the size of the disk is unknown.
int64_t BoundBytes(const RetentionRule& rule, int64_t disk_bytes);

// Returns texts such as "logs 30d, at most 40% of the disk", one per kind of data.
std::vector<std::string> DescribePolicy(const RetentionPolicy& policy);

// Parses the section `retention` of a configuration file; deploy/README.md lists its keys.
// INVALID_ARGUMENT names the key and its valid values.
absl::StatusOr<RetentionPolicy> ParseRetention(const std::string& yaml);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_POLICY_H_
