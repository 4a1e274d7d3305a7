#include "proto/rules/loss_scale_rules.h"

#include <cmath>
#include <string>
#include <utility>

#include "proto/text/number_text.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

constexpr char kInitial[] = "train.initial_loss_scale";
constexpr char kMin[] = "train.min_loss_scale";

std::string ScaleSetting(const char* key, double value) {
  return "`" + std::string(key) + "` (" + NumberText(value) + ")";
}

void CheckUnused(const TrainConfig& train, Problems& problems) {
  const TrainConfig usual;
  const std::pair<const char*, bool> settings[] = {
      {kInitial, train.initial_loss_scale != usual.initial_loss_scale},
      {kMin, train.min_loss_scale != usual.min_loss_scale},
      {"train.loss_scale_window", train.loss_scale_window != usual.loss_scale_window},
      {"train.hysteresis", train.hysteresis != usual.hysteresis}};
  for (const auto& [key, is_written] : settings) {
    if (!is_written) continue;
    problems.push_back(
        {key, "`" + std::string(key) +
                  "` needs `train.precision` fp16, because only fp16 gradients are scaled"});
  }
}

// Other factors would round gradients twice.
void CheckPowerOfTwo(const char* key, double scale, Problems& problems) {
  int exponent = 0;
  if (std::frexp(scale, &exponent) == 0.5) return;
  problems.push_back(
      {key, ScaleSetting(key, scale) +
                " must be a power of two, so that scaling does not round gradients"});
}

void CheckMoment(const char* key, Precision stored, Problems& problems) {
  if (stored != Precision::kFp16) return;
  problems.push_back({key, "`" + std::string(key) +
                               "` fp16 is not supported, because squares of gradients are too "
                               "small for fp16; set it to fp32 or bf16"});
}

}  // namespace

Problems FindLossScaleProblems(const RunConfig& config) {
  Problems problems;
  CheckMoment("optimizer.exp_avg_dtype", config.optimizer.exp_avg_dtype, problems);
  CheckMoment("optimizer.exp_avg_sq_dtype", config.optimizer.exp_avg_sq_dtype, problems);
  const TrainConfig& train = config.train;
  if (!ScalesLoss(train)) {
    CheckUnused(train, problems);
    return problems;
  }
  CheckPowerOfTwo(kInitial, train.initial_loss_scale, problems);
  CheckPowerOfTwo(kMin, train.min_loss_scale, problems);
  if (train.min_loss_scale > train.initial_loss_scale) {
    problems.push_back({kMin, ScaleSetting(kMin, train.min_loss_scale) + " must not be above " +
                                  ScaleSetting(kInitial, train.initial_loss_scale)});
  }
  return problems;
}

}  // namespace trainyard
