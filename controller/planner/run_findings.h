// Advice on a run that is slow, does not learn, spikes or lacks memory: pure functions of settings
// and of what was measured. The advice is that of the guides for training by hand (low MFU, a loss
// that does not fall, out of memory, loss spikes), in the settings of a job file.
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
// A run below this part of its predicted speed is slow.
inline constexpr double kSlowBelow = 0.8;
// Gradient norms of healthy runs.
inline constexpr double kLeastUsualNorm = 0.5;
inline constexpr double kMostUsualNorm = 2.0;

// Seconds of a step that a rank waits, and its whole; 0: not known.
struct StepWaits {
  double step = 0;
  double input = 0;
  double tensor = 0;
  double context = 0;
  double pipeline = 0;
  double data = 0;
};

struct SpeedFacts {
  double mfu = 0;       // 0: the peak rate of the device is not known.
  double expected = 0;  // Measured speed over predicted speed; 0: nothing was predicted.
  StepWaits waits;
};

// Empty for a run that is as fast as it should be. The most likely cause comes first.
std::vector<Finding> FindSlowness(const RunConfig& config, const SpeedFacts& facts);

// Settings of learning rate, warm-up, clipping and gradient norm by which a loss may not fall.
// `grad_norm`: 0 where it is not known. Never empty.
std::vector<Finding> FindWhyLossStays(const RunConfig& config, double grad_norm);

// Settings by which runs of this size often do not learn or spike, known before the run: learning
// rate, warm-up, clipping. Empty for usual ones.
std::vector<Finding> FindRiskySettings(const RunConfig& config);

// Settings that decide what a spike does and how often spikes occur. Advice names only what would
// change them.
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

// True for the output or the verdict of a trainer that lacked memory.
bool TellsOutOfMemory(std::string_view text);
// `bytes`: memory of the device; 0 where it is not known.
Finding OutOfMemory(const RunConfig& config, double bytes);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_FINDINGS_H_
