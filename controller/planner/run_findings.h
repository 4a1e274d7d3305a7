// Advice on a run that is slow, does not learn, spikes or runs out of memory. Pure functions of
// settings and measurements. The advice follows the guides for manual training (low MFU, a loss
// that does not fall, out of memory, loss spikes), in terms of a job file's settings.
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

// A run below this MFU is slow on any device.
inline constexpr double kLowMfu = 0.2;
// A run below this share of its predicted speed is slow.
inline constexpr double kSlowBelow = 0.8;
// Range of gradient norms of healthy runs.
inline constexpr double kLeastUsualNorm = 0.5;
inline constexpr double kMostUsualNorm = 2.0;

// Times a rank waits in a step, and the whole step, in seconds; 0 if unknown.
struct StepWaits {
  double step = 0;
  double input = 0;
  double tensor = 0;
  double context = 0;
  double pipeline = 0;
  double data = 0;
};

struct SpeedFacts {
  double mfu = 0;       // 0 if the device's peak rate is unknown.
  double expected = 0;  // Measured over predicted speed; 0 without a prediction.
  StepWaits waits;
};

// Empty for a run of the expected speed. The most likely cause is first.
std::vector<Finding> FindSlowness(const RunConfig& config, const SpeedFacts& facts);

// Settings of learning rate, warm-up, clipping and gradient norm that may keep the loss from
// falling. `grad_norm` is 0 if unknown. Never empty.
std::vector<Finding> FindWhyLossStays(const RunConfig& config, double grad_norm);

// Settings with which runs of this size often do not learn or have spikes, checked before the run:
// learning rate, warm-up, clipping. Empty for usual settings.
std::vector<Finding> FindRiskySettings(const RunConfig& config);

// Settings that determine the effect and the frequency of spikes. Advice names a setting only if
// the advised value would change it.
struct SpikeSettings {
  bool skips_samples = false;       // guard.policy is skip.
  bool lowers_rate = false;         // guard.policy is lower_lr.
  int64_t skip_batches = 0;         // guard.skip_batches
  std::optional<double> clip_grad;  // optimizer.clip_grad; nullopt for other programs.
  std::optional<double> lr;         // optimizer.lr; nullopt for other programs.
};

Finding LossIsNotFinite(const SpikeSettings& settings);
Finding LossSpikes(const SpikeSettings& settings);
Finding LossIsStagnant();

// Highest plausible learning rate for the model: twice the highest of published runs of its size.
double HighestUsualRate(const ModelConfig& model);

// True if the text is a trainer's output or verdict about insufficient memory.
bool IsOutOfMemory(std::string_view text);
// `bytes`: memory of the device; 0 if unknown.
Finding OutOfMemory(const RunConfig& config, double bytes);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_FINDINGS_H_
