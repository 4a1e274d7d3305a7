// Derives the first step of an attempt from the reports of its ranks. Needed for programs that
// resume on their own and write no checkpoint records, because the controller does not know their
// checkpoints.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_

#include <cstdint>
#include <optional>

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the first step that the attempt trained, if its first two reported steps show that it is
// not Attempt.resume_step + 1. For example, a program that reports every tenth step began ten steps
// before its first report. Returns nullopt in three cases: the reports show no such step, the first
// step is already known, or `observed_since_ms` is after the placement, so that earlier reports may
// be missing.
std::optional<int64_t> FirstStepShown(const v1::Attempt& attempt,
                                      const AttemptObservation& observed,
                                      Timestamp observed_since_ms);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_
