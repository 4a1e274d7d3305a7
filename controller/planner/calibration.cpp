#include "controller/planner/calibration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "controller/planner/figures.h"

namespace trainyard::planner {
namespace {

// Runs in which the part takes a smaller share of the step are ignored, because their scale would
// not be precise.
constexpr double kLeastPart = 0.01;

// Returns the scale of one part of a step (measured divided by predicted time). Returns 0 if the
// part is too small in every run.
double ScaleOfPart(double StepTime::*part, const std::vector<MeasuredStep>& runs) {
  std::vector<double> ratios;
  for (const MeasuredStep& run : runs) {
    const double predicted = run.predicted.*part, measured = run.measured.*part;
    const bool counts =
        predicted > kLeastPart * run.predicted.Total() && measured > kLeastPart * run.seconds;
    if (counts) ratios.push_back(measured / predicted);
  }
  return ratios.empty() ? 0 : MedianOf(std::move(ratios));
}

double WholeScale(const StepScale& scale, const std::vector<MeasuredStep>& runs) {
  std::vector<double> ratios;
  for (const MeasuredStep& run : runs) {
    ratios.push_back(run.seconds / Scaled(scale, run.predicted).Total());
  }
  return MedianOf(std::move(ratios));
}

double MeanError(const StepScale& scale, const std::vector<MeasuredStep>& runs) {
  double sum = 0;
  for (const MeasuredStep& run : runs) {
    sum += std::abs(Scaled(scale, run.predicted).Total() - run.seconds) / run.seconds;
  }
  return sum / static_cast<double>(runs.size());
}

bool IsUsable(const MeasuredStep& run) { return run.seconds > 0 && run.predicted.Total() > 0; }

}  // namespace

std::optional<Calibration> Calibrate(const std::string& device,
                                     const std::vector<MeasuredStep>& all) {
  std::vector<MeasuredStep> runs;
  std::copy_if(all.begin(), all.end(), std::back_inserter(runs), IsUsable);
  if (runs.empty()) return std::nullopt;
  const double whole = WholeScale({}, runs);
  const auto part = [&](double StepTime::*member) {
    const double scale = ScaleOfPart(member, runs);
    return scale > 0 ? scale : whole;
  };
  Calibration calibration;
  calibration.device = device;
  calibration.runs = static_cast<int64_t>(runs.size());
  calibration.scale = {.compute = part(&StepTime::compute),
                       .optimizer = part(&StepTime::optimizer),
                       .tensor_wait = part(&StepTime::tensor_wait),
                       .context_wait = part(&StepTime::context_wait),
                       .expert_wait = part(&StepTime::expert_wait),
                       .pipeline_wait = part(&StepTime::pipeline_wait),
                       .data_wait = part(&StepTime::data_wait),
                       .world_wait = part(&StepTime::world_wait)};
  const double rest = WholeScale(calibration.scale, runs);
  VisitScale(calibration.scale, [rest](const char*, double& value) { value *= rest; });
  calibration.error_before = MeanError({}, runs);
  calibration.error_after = MeanError(calibration.scale, runs);
  return calibration;
}

}  // namespace trainyard::planner
