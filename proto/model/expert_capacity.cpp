#include "proto/model/expert_capacity.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

// A bound on the rounding error of the product. Without this bound, 1.1 times 10 rows would be 12.
constexpr double kRoundingError = 1e-9;

}  // namespace

int64_t ExpertCapacity(const ModelConfig& model, int64_t tokens) {
  const double mean = static_cast<double>(model.moe_router_topk) * static_cast<double>(tokens) /
                      static_cast<double>(model.num_experts);
  const double limit = std::ceil(mean * model.moe_expert_capacity_factor * (1 - kRoundingError));
  return static_cast<int64_t>(std::clamp(limit, 1.0, static_cast<double>(tokens)));
}

}  // namespace trainyard
