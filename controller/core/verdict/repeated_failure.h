// Detects failures that another attempt would only repeat.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_REPEATED_FAILURE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_REPEATED_FAILURE_H_

#include <cstdint>
#include <string>

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// The longest attempt without reported steps that counts as a failed start. In a longer attempt,
// the program may train without reporting steps.
inline constexpr int64_t kLongestFailedStartMs = 600'000;

// Returns why another attempt would repeat the failure of the newest attempt, which ended at `now`
// and reached `last_step`. Empty if another attempt may help. The job is not restarted if the
// program caused two consecutive failures without a newer checkpoint in between, and
// - both attempts failed at the same step with IsSameProgramError, or
// - both ended before their first step, by exiting or with IsSameProgramError.
// Failures that the program did not cause (lost nodes, devices, connections) are skipped. An
// attempt without steps that ran longer than kLongestFailedStartMs is not compared.
std::string WhyItWouldRepeat(const JobEntry& entry, int64_t last_step, Timestamp now);

// Returns true if both failures are the same program error: the same rank, and the same exit code
// or signal. If both error lines are known, they must also match.
bool IsSameProgramError(const v1::Verdict& a, const v1::Verdict& b);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_REPEATED_FAILURE_H_
