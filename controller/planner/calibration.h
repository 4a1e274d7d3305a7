// Calibration of predicted step times for one kind of device from measured runs. Pure functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_
#define TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/planner/step_scale.h"
#include "controller/planner/step_time.h"

namespace trainyard::planner {

// A run with one setting. `measured` contains the times from the run's telemetry; all parts are 0
// if there are none.
struct MeasuredStep {
  StepTime predicted;  // Without calibration.
  StepTime measured;
  double seconds = 0;  // Duration of a whole step.
};

struct Calibration {
  std::string device;  // Name of the device's DeviceSpec.
  StepScale scale;
  int64_t runs = 0;
  // Mean of |predicted - measured| / measured over these runs, without and with the calibration.
  double error_before = 0;
  double error_after = 0;
};

// Each part's scale is the median ratio of measured to predicted seconds over the runs in which the
// part takes at least 1 % of a step. Parts without such a run get the scale of the whole step. Then
// all scales are multiplied by one factor so that whole steps fit. nullopt without a usable run.
std::optional<Calibration> Calibrate(const std::string& device,
                                     const std::vector<MeasuredStep>& runs);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_
