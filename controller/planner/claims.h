// Numbers that a recipe states about its run, such as the parameter count. `recipe check` compares
// these numbers with the numbers that follow from the run's settings.
#ifndef TRAINYARD_CONTROLLER_PLANNER_CLAIMS_H_
#define TRAINYARD_CONTROLLER_PLANNER_CLAIMS_H_

#include <optional>

#include "controller/planner/amount.h"

namespace trainyard::planner {

struct Range {
  double low = 0;
  double high = 0;
};

// A power law of the training budget: for C FLOP, the optimal number of parameters or tokens is
// coefficient * C^exponent.
struct PowerLaw {
  double coefficient = 0;
  double exponent = 0;
};

struct Claims {
  std::optional<Amount> parameters;
  std::optional<Amount> active_parameters;
  std::optional<Amount> tokens;
  std::optional<Amount> warmup_tokens;
  std::optional<Amount> flops;
  std::optional<Amount> loss;
  std::optional<double> data_parallel;
  std::optional<double> tokens_per_parameter;
  std::optional<Range> tokens_per_second;  // All GPUs together.
  std::optional<Range> mfu;                // For example, 0.35 to 0.4.
  std::optional<Range> hours;
  std::optional<PowerLaw> optimal_parameters;
  std::optional<PowerLaw> optimal_tokens;
  bool even_stages = false;  // True if the document's trainer needs equally long pipeline stages.
  double peak_flops = 0;     // Peak rate of the device in the claims. 0 if unknown.
};

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_CLAIMS_H_
