#include "trainer/ops/loss/vocabulary_cross_entropy.h"

#include <limits>

#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The positions of the target tokens within one part of the vocabulary.
struct TargetPlaces {
  Tensor index;   // int64 [rows, 1], relative to the part's first token.
  Tensor inside;  // bool [rows, 1]; if false, index is meaningless.
};

TargetPlaces PlacesOf(const Tensor& target_tokens, int64_t first_token, int64_t width) {
  const Tensor place = (target_tokens - first_token).unsqueeze(1);
  return {place.clamp(0, width - 1), (place >= 0).logical_and(place < width)};
}

}  // namespace

void CrossEntropyStatistics(const Tensor& logits, const Tensor& target_tokens, int64_t first_token,
                            Tensor& statistics) {
  if (gpu::HasKernels(logits)) {
    return gpu::CrossEntropyStatistics(logits, target_tokens, first_token, statistics);
  }
  const Tensor wide = logits.to(ComputeType(logits.scalar_type()));
  // If all logits are -infinity, the maximum is clamped to a finite number, because -infinity minus
  // -infinity is NaN.
  const Tensor largest = wide.amax(1, true).clamp_min(std::numeric_limits<float>::lowest());
  const TargetPlaces places = PlacesOf(target_tokens, first_token, logits.size(1));
  statistics.narrow(1, 0, 1).copy_(largest);
  statistics.narrow(1, 1, 1).copy_((wide - largest).exp_().sum(1, true));
  statistics.narrow(1, 2, 1).copy_(
      wide.gather(1, places.index).masked_fill_(places.inside.logical_not(), 0));
}

Tensor CombineStatistics(const Tensor& statistics_of_parts) {
  const auto column = [&](int64_t i) { return statistics_of_parts.select(2, i); };
  const Tensor largest = column(0).amax(0);
  const Tensor sum = (column(1) * (column(0) - largest).exp_()).sum(0);
  return torch::stack({largest + sum.log(), column(2).sum(0)}, 1);
}

void CrossEntropyOfPart(Tensor& logits, const Targets& targets, int64_t first_token,
                        const Tensor& combined, LossPass pass, Tensor& loss) {
  if (gpu::HasKernels(logits)) {
    return gpu::CrossEntropyOfPart(logits, targets, first_token, combined, pass, loss);
  }
  const auto compute = ComputeType(logits.scalar_type());
  const Tensor weights = targets.weights.to(compute).unsqueeze(1);
  const Tensor uncounted = weights == 0;
  const Tensor log_sum_exp = combined.narrow(1, 0, 1), target_logit = combined.narrow(1, 1, 1);
  const Tensor losses = ((log_sum_exp - target_logit) * weights).masked_fill_(uncounted, 0);
  loss.add_(losses.to(torch::kFloat64).sum());
  if (pass == LossPass::kLossOnly) return;
  const TargetPlaces places = PlacesOf(targets.tokens, first_token, logits.size(1));
  Tensor gradient = logits.to(compute);  // Not a copy if the logits have the compute type.
  gradient.sub_(log_sum_exp).exp_();
  gradient.scatter_add_(1, places.index, -places.inside.to(compute));
  gradient.mul_(weights).masked_fill_(uncounted, 0);
  if (!gradient.is_same(logits)) logits.copy_(gradient);
}

}  // namespace trainyard::trainer
