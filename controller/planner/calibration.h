// Corrects predicted step times of one kind of device by measured runs. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_
#define TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/planner/step_scale.h"
#include "controller/planner/step_time.h"

namespace trainyard::planner {

// A measured run of one setting. `measured` contains the parts of a step from the run's telemetry.
// If the telemetry has none, all parts are 0.
struct MeasuredStep {
  StepTime predicted;  // Without calibration.
  StepTime measured;
  double seconds = 0;  // Duration of one whole step.
};

struct Calibration {
  std::string device;  // Name of the device's DeviceSpec.
  StepScale scale;
  int64_t runs = 0;
  // The mean of |predicted - measured| / measured over these runs, before and after calibration.
  double error_before = 0;
  double error_after = 0;
};

// Computes a scale for each part of a step: the median ratio of measured to predicted seconds, over
// the runs in which the part takes at least 1 % of a step. A part without such runs gets the scale
// of the whole step. Finally, all scales are multiplied by one common factor, so that the times of
// whole steps match. Returns nullopt if no run is usable.
std::optional<Calibration> Calibrate(const std::string& device,
                                     const std::vector<MeasuredStep>& runs);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_
