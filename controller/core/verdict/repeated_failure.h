// Detects failures that another attempt would only repeat.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_REPEATED_FAILURE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_REPEATED_FAILURE_H_

#include <cstdint>
#include <string>

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// The longest duration of an attempt without steps that counts as a failed start. In a longer
// attempt, a program that reports no steps may have trained.
inline constexpr int64_t kLongestFailedStartMs = 600'000;

// Returns the reason why the job is not restarted after its newest attempt, which ended at `now`
// and reached `last_step`. Empty if another attempt may help. There is a reason if two consecutive
// attempts
// - failed with IsSameProgramError at the same step, without a newer checkpoint in between, or
// - exited, or failed with IsSameProgramError, before their first step.
// Failures that the program did not cause (lost nodes, devices, connections) are skipped. Attempts
// without steps that ran longer than kLongestFailedStartMs are not compared.
std::string WhyItWouldRepeat(const JobEntry& entry, int64_t last_step, Timestamp now);

// Returns true if both failures are the same program error. The rank and the exit code or signal
// must be the same. If both error lines are known, they must also be the same.
bool IsSameProgramError(const v1::Verdict& a, const v1::Verdict& b);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_REPEATED_FAILURE_H_
