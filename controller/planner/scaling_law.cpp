#include "controller/planner/scaling_law.h"

#include <algorithm>
#include <cmath>

#include "proto/model/model_size.h"

namespace trainyard::planner {
namespace {

constexpr double kFloor = 1.69;
constexpr double kModelFactor = 406.4, kModelExponent = 0.34;
constexpr double kDataFactor = 410.7, kDataExponent = 0.28;

constexpr double kTokensPerParameter = 20;
constexpr double kPetaflopDay = 1e15 * 86400;

constexpr int64_t kMostLayers = 200;
constexpr int64_t kWidestHead = 65536;
constexpr int64_t kLeastAspect = 64, kMostAspect = 160;

Optimum Filled(Optimum optimum) {
  optimum.loss = LossOf(optimum.parameters, optimum.tokens);
  return optimum;
}

// Returns `hidden` times the feed-forward ratio of `like`, rounded to a multiple of 256.
int64_t FeedForwardWidth(const ModelConfig& like, int64_t hidden) {
  const double ratio =
      static_cast<double>(like.ffn_hidden_size) / static_cast<double>(like.hidden_size);
  return std::max<int64_t>(std::llround(ratio * static_cast<double>(hidden) / 256) * 256, 256);
}

ModelConfig ShapeOf(const ModelConfig& like, int64_t layers, int64_t hidden) {
  ModelConfig shape = like;
  const int64_t per_group = std::max<int64_t>(like.num_attention_heads / like.num_query_groups, 1);
  shape.num_layers = layers;
  shape.hidden_size = hidden;
  shape.num_attention_heads = hidden / HeadSize(like);
  shape.num_query_groups = shape.num_attention_heads / per_group;
  shape.ffn_hidden_size = FeedForwardWidth(like, hidden);
  return shape;
}

bool KeepsGroups(const ModelConfig& shape) {
  return shape.num_query_groups > 0 && shape.num_attention_heads % shape.num_query_groups == 0;
}

}  // namespace

double LossOf(double parameters, double tokens) {
  return kFloor + kModelFactor / std::pow(parameters, kModelExponent) +
         kDataFactor / std::pow(tokens, kDataExponent);
}

Optimum RuleOfTwenty(double flops) {
  const double parameters = std::sqrt(flops / 6 / kTokensPerParameter);
  return Filled({"D = 20 N", "Chinchilla's rule of thumb", parameters,
                 kTokensPerParameter * parameters, flops});
}

Optimum GuideCoefficients(double flops) {
  const double parameters = 0.1174 * std::pow(flops, 0.4999);
  const double tokens = 1.6972 * std::pow(flops, 0.5001);
  return Filled({"N = 0.1174 C^0.4999, D = 1.6972 C^0.5001", "coefficients of the guide",
                 parameters, tokens, 6 * parameters * tokens});
}

// At the minimum of a LossOf with budget 6 N D = C, a_N N^-e_N = a_D D^-e_D, where a = factor *
// exponent for each of the two terms (section 3.3 of the paper).
Optimum LossMinimum(double flops) {
  const double sum = kModelExponent + kDataExponent;
  const double scale =
      std::pow(kModelExponent * kModelFactor / (kDataExponent * kDataFactor), 1 / sum);
  const double parameters = scale * std::pow(flops / 6, kDataExponent / sum);
  return Filled(
      {"least loss", "arXiv 2203.15556, approach 3", parameters, flops / 6 / parameters, flops});
}

Optimum KaplanOptimum(double flops) {
  const double parameters = 1.3e9 * std::pow(flops / kPetaflopDay, 0.73);
  return Filled(
      {"N ~ C^0.73", "Kaplan, arXiv 2001.08361", parameters, flops / 6 / parameters, flops});
}

OverTraining OverTrainingOf(double parameters, double tokens) {
  OverTraining over;
  over.tokens_per_parameter = tokens / parameters;
  over.optimal_tokens = kTokensPerParameter * parameters;
  over.ratio = tokens / over.optimal_tokens;
  over.optimal_loss = LossMinimum(6 * parameters * tokens).loss;
  return over;
}

std::optional<BudgetShape> BestShape(const ModelConfig& like, int64_t seq_length, double flops) {
  std::optional<BudgetShape> best;
  const int64_t head = HeadSize(like);
  for (int64_t layers = 2; layers <= kMostLayers; ++layers) {
    const int64_t most = std::min(layers * kMostAspect, kWidestHead);
    const int64_t least = std::max((layers * kLeastAspect + head - 1) / head * head, head);
    for (int64_t hidden = least; hidden <= most; hidden += head) {
      const ModelConfig shape = ShapeOf(like, layers, hidden);
      if (!KeepsGroups(shape)) continue;
      const auto parameters = static_cast<double>(ParameterCount(shape));
      const double tokens = flops / TrainingFlopsPerToken(shape, seq_length);
      if (tokens < 1) break;
      const double loss = LossOf(parameters, tokens);
      if (!best || loss < best->loss) best = BudgetShape{shape, parameters, tokens, loss};
    }
  }
  return best;
}

}  // namespace trainyard::planner
