// Calibrates predicted step times for one kind of device with measured runs. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_
#define TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/planner/step_scale.h"
#include "controller/planner/step_time.h"

namespace trainyard::planner {

// A run with one setting. `measured` contains the times from the run's telemetry. If there are
// none, all of its parts are 0.
struct MeasuredStep {
  StepTime predicted;  // Without calibration.
  StepTime measured;
  double seconds = 0;  // Duration of one whole step.
};

struct Calibration {
  std::string device;  // Name of the device's DeviceSpec.
  StepScale scale;
  int64_t runs = 0;
  // The mean of |predicted - measured| / measured over these runs, before and after the
  // calibration.
  double error_before = 0;
  double error_after = 0;
};

// Calibrates each part of a step. The scale of a part is the median ratio of measured to predicted
// seconds over the runs in which the part takes at least 1 % of a step. If there is no such run,
// the part gets the scale of the whole step. Afterwards all scales are multiplied by one common
// factor, so that whole steps fit. Returns nullopt if no run is usable.
std::optional<Calibration> Calibrate(const std::string& device,
                                     const std::vector<MeasuredStep>& runs);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_
