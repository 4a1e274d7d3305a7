// The step with which an attempt began, by what its ranks report. A program that writes no
// checkpoint records resumes by itself, and the controller knows of no checkpoint.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_

#include <cstdint>
#include <optional>

#include "controller/core/observations/observations.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// First step that the attempt trained, where its first two reported steps show another one than
// Attempt.resume_step + 1; nothing where they do not, where it is known already, and where the
// controller has observed since a time (`observed_since_ms`) at which the attempt may have reported
// steps already. A program that reports every tenth step begins ten steps before its first report.
std::optional<int64_t> FirstStepShown(const v1::Attempt& attempt,
                                      const AttemptObservation& observed,
                                      Timestamp observed_since_ms);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_FIRST_STEP_H_
