// Advises on a run that is slow, does not learn, spikes or runs out of memory. The functions depend
// only on settings and measurements. The advice follows published troubleshooting guides and names
// the job file settings to change.
#ifndef TRAINYARD_CONTROLLER_PLANNER_RUN_FINDINGS_H_
#define TRAINYARD_CONTROLLER_PLANNER_RUN_FINDINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/planner/finding.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// A run with an MFU below this value is slow on any device.
inline constexpr double kLowMfu = 0.2;
// A run is slow if its speed is below this fraction of the predicted speed.
inline constexpr double kSlowBelow = 0.8;
// The range of gradient norms in healthy runs.
inline constexpr double kLeastUsualNorm = 0.5;
inline constexpr double kMostUsualNorm = 2.0;

// The times that a rank waits in a step, and the duration of the whole step. In seconds; 0 if
// unknown.
struct StepWaits {
  double step = 0;
  double input = 0;
  double tensor = 0;
  double context = 0;
  double expert = 0;
  double pipeline = 0;
  double data = 0;
};

struct SpeedFacts {
  double mfu = 0;       // 0 if the device's peak rate is unknown.
  double expected = 0;  // Measured divided by predicted speed. 0 without a prediction.
  StepWaits waits;
};

// Returns the causes of slowness, most likely cause first. Empty if the run has the expected speed.
std::vector<Finding> FindSlowness(const RunConfig& config, const SpeedFacts& facts);

// Returns settings (learning rate, warm-up, clipping) that may prevent the loss from falling, and a
// finding on the gradient norm. `grad_norm` is 0 if unknown. The result is never empty.
std::vector<Finding> FindWhyLossStays(const RunConfig& config, double grad_norm);

// Checks learning rate, warm-up and clipping before the run. Returns findings if runs of this size
// with such settings often do not learn or have spikes. Empty for usual settings.
std::vector<Finding> FindRiskySettings(const RunConfig& config);

// The settings that determine how often spikes occur and what happens then. Advice names a setting
// only if the advised value differs from the current value.
struct SpikeSettings {
  bool skips_samples = false;       // guard.policy is skip.
  bool lowers_rate = false;         // guard.policy is lower_lr.
  int64_t skip_batches = 0;         // guard.skip_batches
  std::optional<double> clip_grad;  // optimizer.clip_grad. nullopt for other programs.
  std::optional<double> lr;         // optimizer.lr. nullopt for other programs.
};

Finding LossIsNotFinite(const SpikeSettings& settings);
Finding LossSpikes(const SpikeSettings& settings);
Finding LossIsStagnant();

// Returns the highest plausible learning rate for the model, which is twice the highest published
// rate for models of this size.
double HighestUsualRate(const ModelConfig& model);

// Returns true if the text (a trainer's output or a verdict) reports that memory ran out.
bool IsOutOfMemory(std::string_view text);
// `bytes` is the memory of the device, or 0 if unknown.
Finding OutOfMemory(const RunConfig& config, double bytes);
// Advice for a program other than trainyard-trainer, with unknown settings. `on_device` is true if
// the memory of the GPU ran out.
Finding OutOfMemoryOfProgram(bool on_device);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_FINDINGS_H_
