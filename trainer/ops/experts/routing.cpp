#include "trainer/ops/experts/routing.h"

#include <limits>
#include <tuple>

#include "proto/model/expert_limits.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Keeps the sum of sigmoid scores above 0, as in DeepSeek-V3.
constexpr double kSmallestSum = 1e-20;

// Returns the indices of the `count` largest values of each row. Among equal values, the lower
// index comes first.
Tensor LargestOfEach(const Tensor& values, int64_t count) {
  return std::get<1>(at::sort(values, /*stable=*/true, 1, /*descending=*/true))
      .narrow(1, 0, count)
      .contiguous();
}

// Returns the scores with -infinity for the experts outside the kept groups. A finite value, such
// as 0, would be chosen if all kept scores were below that value.
Tensor LimitToGroups(const Tensor& scores, const RouterForm& form) {
  const int64_t rows = scores.size(0);
  const Tensor grouped = scores.view({rows, form.groups, -1});
  const Tensor best_two = std::get<0>(at::topk(grouped, 2, 2)).sum(2);
  const Tensor kept = LargestOfEach(best_two, form.group_topk);
  const Tensor is_hidden = torch::ones({rows, form.groups}, kept.options().dtype(torch::kBool))
                               .scatter(1, kept, false)
                               .unsqueeze(2);
  return grouped.masked_fill(is_hidden, -std::numeric_limits<double>::infinity())
      .view(scores.sizes());
}

bool IsSoftmax(const RouterForm& form) { return form.score == RouterScoreFunction::kSoftmax; }

// Returns the sums that normalise the chosen scores, [rows, 1].
Tensor SumOfChosen(const Tensor& chosen, const RouterForm& form) {
  const Tensor sum = chosen.sum(1, /*keepdim=*/true);
  return IsSoftmax(form) ? sum : sum + kSmallestSum;
}

// Returns the gradient of the chosen sigmoid scores. `d` is the gradient of the weights before
// scaling.
Tensor ChosenSigmoidGradient(const Tensor& d, const Tensor& chosen, const RouterForm& form) {
  if (!form.is_normalised) return d;
  const Tensor sum = SumOfChosen(chosen, form);
  return (d - (d * chosen).sum(1, true) / sum) / sum;
}

}  // namespace

Tensor RouterScores(const Tensor& logits, const RouterForm& form) {
  const Tensor wide = logits.to(ComputeType(logits.scalar_type()));
  if (gpu::HasKernels(wide)) return gpu::RouterScores(wide, form);
  return IsSoftmax(form) ? at::softmax(wide, 1) : at::sigmoid(wide);
}

Tensor ChooseExperts(const Tensor& scores, const Tensor& bias, const RouterForm& form) {
  if (gpu::HasKernels(scores)) return gpu::ChooseExperts(scores, bias, form);
  const Tensor judged = bias.defined() ? scores + bias : scores;
  return LargestOfEach(form.groups > 0 ? LimitToGroups(judged, form) : judged, form.topk);
}

Tensor BalancedExperts(int64_t rows, int64_t experts, int64_t topk, torch::Device device) {
  const auto options = torch::dtype(torch::kInt64).device(device);
  const Tensor first = torch::arange(rows, options).unsqueeze(1);
  return first.add(torch::arange(topk, options)).remainder_(experts);
}

Tensor ExpertWeights(const Tensor& scores, const Tensor& experts, const RouterForm& form) {
  if (gpu::HasKernels(scores)) return gpu::ExpertWeights(scores, experts, form);
  const Tensor chosen = scores.gather(1, experts);
  return (form.is_normalised ? chosen / SumOfChosen(chosen, form) : chosen) * form.scaling;
}

Tensor RouterLogitGradient(const Tensor& d_weights, const Tensor& scores, const Tensor& experts,
                           const RouterForm& form) {
  if (gpu::HasKernels(scores)) return gpu::RouterLogitGradient(d_weights, scores, experts, form);
  const Tensor chosen = scores.gather(1, experts), d = d_weights * form.scaling;
  if (IsSoftmax(form) && !form.is_normalised) {  // Every logit is in the denominator.
    const Tensor own = chosen * d;
    return (scores * -own.sum(1, true)).scatter_add_(1, experts, own);
  }
  Tensor d_chosen;  // Gradient of the chosen logits; the others have none.
  if (IsSoftmax(form)) {
    const Tensor share = chosen / SumOfChosen(chosen, form);
    d_chosen = share * (d - (share * d).sum(1, true));
  } else {
    d_chosen = ChosenSigmoidGradient(d, chosen, form) * chosen * (1 - chosen);
  }
  return torch::zeros_like(scores).scatter_(1, experts, d_chosen);
}

Tensor CountRows(const Tensor& experts, int64_t count) {
  if (experts.is_cuda() && experts.dim() == 2 && count <= kMostExpertsOnGpus) {
    return gpu::CountRows(experts, count, {.length = experts.size(0)}).view({count});
  }
  return at::bincount(experts.reshape({-1}), {}, count);
}

}  // namespace trainyard::trainer
