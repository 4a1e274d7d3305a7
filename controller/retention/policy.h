// Rules for removing data of ended jobs. The functions have no side effects.
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

// The limits of one store: how long data is kept, and how much.
struct RetentionRule {
  // The time that data is kept after the end of its job. nullopt means forever.
  std::optional<int64_t> keep_ms;
  // The maximum share of the data disk, from 0 to 1. 0 means no limit.
  double disk_share = 0;
};

struct RetentionPolicy {
  RetentionRule logs{.keep_ms = 30 * kDayMs, .disk_share = 0.4};
  RetentionRule metrics{.keep_ms = 180 * kDayMs, .disk_share = 0.2};
  // Applies to events of jobs and of nodes. A job's events age from the end of the job, a node's
  // events age from their own time.
  RetentionRule events{.keep_ms = 365 * kDayMs, .disk_share = 0.2};
  // The age at which whole jobs are removed, as with `trainyard delete`. nullopt means never.
  std::optional<int64_t> jobs_ms = 730 * kDayMs;
  // True if the checkpoints of a job are removed together with the job (see jobs_ms).
  bool checkpoints_with_jobs = false;
};

// Returns true if the data of a job that ended at `ended_ms` has been kept for `keep_ms`.
bool IsDue(const std::optional<int64_t>& keep_ms, Timestamp ended_ms, Timestamp now);

// Returns the maximum size of the store in bytes. Returns 0 (no limit) if the rule has no disk
// share or the size of the disk is unknown.
int64_t BoundBytes(const RetentionRule& rule, int64_t disk_bytes);

// Returns texts such as "logs 30d, at most 40% of the disk", one per kind of data.
std::vector<std::string> DescribePolicy(const RetentionPolicy& policy);

// Parses the section `retention` of a configuration file; deploy/README.md lists its keys.
// INVALID_ARGUMENT: the message names the key and its valid values.
absl::StatusOr<RetentionPolicy> ParseRetention(const std::string& yaml);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RETENTION_POLICY_H_
