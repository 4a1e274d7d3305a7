// Calibration of predicted step times for one kind of device by measured runs: pure functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_
#define TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/planner/step_scale.h"
#include "controller/planner/step_time.h"

namespace trainyard::planner {

// A run of one setting. `measured` has seconds that the run's telemetry gives: all parts 0 where it
// gives none of them.
struct MeasuredStep {
  StepTime predicted;  // Without a calibration.
  StepTime measured;
  double seconds = 0;  // Of a whole step.
};

struct Calibration {
  std::string device;  // Name of its DeviceSpec.
  StepScale scale;
  int64_t runs = 0;
  // Mean of |predicted - measured| / measured over these runs, without the calibration and with it.
  double error_before = 0;
  double error_after = 0;
};

// Each part's scale is the median of measured over predicted seconds in the runs where the part
// takes 1 % of a step or more; then all are scaled alike so that whole steps fit. Parts that no run
// has take the scale of the whole. nullopt without a run.
std::optional<Calibration> Calibrate(const std::string& device,
                                     const std::vector<MeasuredStep>& runs);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CALIBRATION_H_
