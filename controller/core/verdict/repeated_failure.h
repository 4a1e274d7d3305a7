// Failures that another attempt would only repeat.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_REPEATED_FAILURE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_REPEATED_FAILURE_H_

#include <cstdint>
#include <string>

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// Longest life of an attempt without any step that counts as a failure at the start: a program that
// reports no steps may have trained for hours.
inline constexpr int64_t kLongestFailedStartMs = 600'000;

// Reason why the job is not tried again after its newest attempt, which ended at `now` and reached
// `last_step`; empty when another attempt may help. The same failure came twice in a row: of the
// same rank, with the same code or signal, at the same step and without a newer checkpoint in
// between; or two attempts ended by an exit before their first step. Failures that the program did
// not cause (lost nodes, devices, connections) are neither counted nor end a row.
std::string WhyItWouldRepeat(const JobEntry& entry, int64_t last_step, Timestamp now);

// True when both failures are the same error of the program: the same rank, code or signal, and
// error line where both are known.
bool IsSameProgramError(const v1::Verdict& a, const v1::Verdict& b);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_REPEATED_FAILURE_H_
