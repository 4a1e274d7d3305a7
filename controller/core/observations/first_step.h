// First step of an attempt, derived from the reports of its ranks. A program that writes no
// checkpoint records resumes on its own, and the controller knows no checkpoint.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_

#include <cstdint>
#include <optional>

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// First step that the attempt trained, if its first two reported steps show that it is not
// Attempt.resume_step + 1. nullopt if they do not, if the first step is already known, or if the
// controller has observed only since `observed_since_ms`, after the placement, so that earlier
// reports may be missing. A program that reports every tenth step began ten steps before its first
// report.
std::optional<int64_t> FirstStepShown(const v1::Attempt& attempt,
                                      const AttemptObservation& observed,
                                      Timestamp observed_since_ms);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_
