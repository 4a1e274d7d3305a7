// Derives the first step of an attempt from the reports of its ranks. The first step cannot always
// be computed from a checkpoint. A program may resume on its own without checkpoint records, or
// continue another program's checkpoint with an unknown step.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_

#include <cstdint>
#include <optional>

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the first step that the attempt trained, if the first two reported steps show that this
// step was not Attempt.resume_step + 1. For example, a program that reports every tenth step began
// ten steps before its first report. Returns nullopt if
// - the reports do not show this,
// - the first step is already known, or
// - `observed_since_ms` is after the placement, so earlier reports may be missing.
std::optional<int64_t> FirstStepShown(const v1::Attempt& attempt,
                                      const AttemptObservation& observed,
                                      Timestamp observed_since_ms);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_
