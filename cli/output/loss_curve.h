// Analysis of the losses of a run: does it still improve, and where did it spike.
#ifndef TRAINYARD_CLI_OUTPUT_LOSS_CURVE_H_
#define TRAINYARD_CLI_OUTPUT_LOSS_CURVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::cli {

// Losses that the newest and the earlier mean are taken of.
inline constexpr int kLossCurveWindow = 100;

struct LossCurve {
  // Means of the newest losses, and of as many before them.
  double recent_loss = 0;
  double previous_loss = 0;
  // Part of the previous loss by which the recent one is lower; negative where it rose.
  double improvement = 0;
  // The improvement is below 0.1 %.
  bool is_stagnant = false;
  // Steps whose loss lies more than 3 standard deviations above the mean of all.
  std::vector<int64_t> spikes;
  // Losses that are not finite.
  int64_t not_finite = 0;
  // Next step for a person, as one sentence.
  std::string recommendation;
};

// Nothing for a series of fewer than two windows of finite losses. A point that stands for several
// losses counts as one with their mean, and spikes where their greatest does. Pure.
std::optional<LossCurve> AnalyseLossCurve(const v1::Series& losses);

// The analysis for people, and for programs.
std::string LossCurveText(const LossCurve& curve);
nlohmann::json LossCurveDocument(const LossCurve& curve);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_LOSS_CURVE_H_
