// Scaling laws: the loss as a function of parameters and tokens, and the best division of a FLOP
// budget between the two. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_SCALING_LAW_H_
#define TRAINYARD_CONTROLLER_PLANNER_SCALING_LAW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Returns L = 1.69 + 406.4 / N^0.34 + 410.7 / D^0.28, in nats per token (Hoffmann et al. 2022,
// Chinchilla, arXiv 2203.15556, approach 3).
double LossOf(double parameters, double tokens);

// A division of a FLOP budget into parameters and tokens. 6 * parameters * tokens equals `flops`,
// except with published coefficients whose product differs.
struct Optimum {
  std::string_view law;
  std::string_view source;
  double parameters = 0;
  double tokens = 0;
  double flops = 0;
  double loss = 0;  // By LossOf.
};

// Returns the division with 20 tokens per parameter, which is Chinchilla's rule of thumb.
Optimum RuleOfTwenty(double flops);
// Returns N = 0.1174 C^0.4999 and D = 1.6972 C^0.5001, which are published coefficients. With these
// coefficients, 6 N D is 1.2 C.
Optimum GuideCoefficients(double flops);
// Returns the division with the lowest LossOf under the constraint 6 N D = C.
Optimum LossMinimum(double flops);
// Returns Kaplan's division: N is proportional to C^0.73, with N = 1.3e9 at one petaflop-day, not
// counting the embedding (Kaplan et al. 2020, arXiv 2001.08361, section 6.1).
Optimum KaplanOptimum(double flops);

// The cost of training a model whose size is not optimal for the budget.
struct OverTraining {
  double tokens_per_parameter = 0;
  double optimal_tokens = 0;  // 20 per parameter.
  double ratio = 0;           // Tokens divided by the optimal number of tokens.
  double optimal_loss = 0;    // The lowest loss for the same number of operations.
};
OverTraining OverTrainingOf(double parameters, double tokens);

struct BudgetShape {
  ModelConfig model;
  double parameters = 0;
  double tokens = 0;  // Below flops / 6N, because attention also takes FLOPs.
  double loss = 0;
};

// Returns the shape with the lowest LossOf for the budget. The shape has the vocabulary, kind of
// layers, head size, feed-forward ratio and query group ratio of `like`. The width is a multiple of
// the head size and 64 to 160 times the number of layers, as in published models of 1 B to 400 B.
// Returns nullopt if no shape fits the budget.
std::optional<BudgetShape> BestShape(const ModelConfig& like, int64_t seq_length, double flops);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_SCALING_LAW_H_
