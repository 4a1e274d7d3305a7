// The rule by which records of experts are kept: the newest records, and older records at similar
// distances. A record of a large model has 15 KiB, so the records of a job stay below 2 MiB.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_EXPERT_HISTORY_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_EXPERT_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace trainyard::controller {

inline constexpr std::size_t kKeptExpertRecords = 128;
inline constexpr std::size_t kNewestExpertRecords = 16;

// Returns the step to remove if there are more than kKeptExpertRecords steps: the step whose
// removal leaves the smallest gap. The first step and the newest kNewestExpertRecords are never
// removed. `steps` are ascending.
inline std::optional<int64_t> ExpertStepToRemove(const std::vector<int64_t>& steps) {
  if (steps.size() <= kKeptExpertRecords) return std::nullopt;
  std::size_t removed = 1;
  for (std::size_t i = 1; i + kNewestExpertRecords < steps.size(); ++i) {
    const auto gap = [&](std::size_t at) { return steps[at + 1] - steps[at - 1]; };
    if (gap(i) < gap(removed)) removed = i;
  }
  return steps[removed];
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_EXPERT_HISTORY_H_
