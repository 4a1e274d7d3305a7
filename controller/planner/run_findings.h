// Advises on a run that is slow, does not learn, spikes or runs out of memory. The functions depend
// only on settings and measurements. The advice follows guides for manual training (low MFU, a loss
// that does not fall, out of memory, loss spikes), expressed as settings of a job file.
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

// A run with a lower MFU is slow on any device.
inline constexpr double kLowMfu = 0.2;
// A run is slow if its speed is below this share of the predicted speed.
inline constexpr double kSlowBelow = 0.8;
// The range of gradient norms in healthy runs.
inline constexpr double kLeastUsualNorm = 0.5;
inline constexpr double kMostUsualNorm = 2.0;

// The times for which a rank waits in a step, and the duration of the whole step, in seconds. 0 if
// unknown.
struct StepWaits {
  double step = 0;
  double input = 0;
  double tensor = 0;
  double context = 0;
  double pipeline = 0;
  double data = 0;
};

struct SpeedFacts {
  double mfu = 0;       // 0 if the peak rate of the device is unknown.
  double expected = 0;  // Measured divided by predicted speed. 0 without a prediction.
  StepWaits waits;
};

// Returns the causes of slowness, most likely cause first. Empty if the run has the expected speed.
std::vector<Finding> FindSlowness(const RunConfig& config, const SpeedFacts& facts);

// Returns the settings (learning rate, warm-up, clipping) and the gradient norm that may prevent
// the loss from falling. `grad_norm` is 0 if unknown. The result is never empty.
std::vector<Finding> FindWhyLossStays(const RunConfig& config, double grad_norm);

// Checks before the run whether its learning rate, warm-up and clipping are such that runs of this
// size often do not learn or have spikes. Empty for usual settings.
std::vector<Finding> FindRiskySettings(const RunConfig& config);

// The settings that determine the effect and the frequency of spikes. Advice names a setting only
// if the advised value differs from the current one.
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

// Returns the highest plausible learning rate for the model: twice the highest rate of published
// runs with models of this size.
double HighestUsualRate(const ModelConfig& model);

// Returns true if the text is output of a trainer, or a verdict, that reports insufficient memory.
bool IsOutOfMemory(std::string_view text);
// `bytes` is the memory of the device. 0 if unknown.
Finding OutOfMemory(const RunConfig& config, double bytes);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_FINDINGS_H_
