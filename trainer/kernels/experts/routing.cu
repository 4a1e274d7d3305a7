#include "trainer/kernels/experts/routing.h"

#include <cmath>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/experts/slot_order.h"
#include "trainer/kernels/vector_access.cuh"
#include "trainer/kernels/warp_rows.cuh"

namespace trainyard::trainer::kernels {
namespace {

// The number of threads for kernels in which each thread processes a row.
constexpr int kRowThreads = 128;
// Keeps the sum of sigmoid scores above 0, as in DeepSeek-V3.
constexpr float kSmallestSum = 1e-20f;

__global__ void __launch_bounds__(kWarpRowThreads)
    RouterScoresKernel(const float* logits, RoutingShape shape, bool is_softmax, float* scores) {
  const int64_t row = RowOfWarp();
  if (row >= shape.rows) return;
  logits += row * shape.experts;
  scores += row * shape.experts;
  const int experts = static_cast<int>(shape.experts);
  if (!is_softmax) {
    for (int e = Lane(); e < experts; e += kWarpSize) scores[e] = 1.0f / (1.0f + expf(-logits[e]));
    return;
  }
  float maximum = -INFINITY;
  for (int e = Lane(); e < experts; e += kWarpSize) maximum = fmaxf(maximum, logits[e]);
  maximum = WarpMax(maximum);
  float sum = 0;
  for (int e = Lane(); e < experts; e += kWarpSize) sum += expf(logits[e] - maximum);
  sum = WarpSum(sum);
  for (int e = Lane(); e < experts; e += kWarpSize) scores[e] = expf(logits[e] - maximum) / sum;
}

// Returns a key that orders (value, index) pairs. A larger value has a larger key. If values are
// equal, the pair with the lower index has the larger key. Every key is above 0. NaN with a
// positive sign is the largest value, so that every choice consists of existing experts.
__device__ __forceinline__ unsigned long long KeyOf(float value, int index) {
  const unsigned bits = __float_as_uint(value + 0.0f);  // + 0 converts -0 to 0.
  const unsigned ordered = bits ^ (bits >> 31 != 0 ? 0xffffffffu : 0x80000000u);
  return static_cast<unsigned long long>(ordered) << 32 |
         (0xffffffffu - static_cast<unsigned>(index));
}

__device__ __forceinline__ int IndexOf(unsigned long long key) {
  return static_cast<int>(0xffffffffu - static_cast<unsigned>(key));
}

// Returns the sum of the two largest of `count` values.
__device__ __forceinline__ float SumOfBestTwo(const float* values, int count) {
  float best = -INFINITY;
  float second = -INFINITY;
  for (int i = 0; i < count; ++i) {
    second = fmaxf(second, fminf(best, values[i]));
    best = fmaxf(best, values[i]);
  }
  return best + second;
}

// Sets the values of all experts outside the `kept` best groups to -infinity. `sums` is temporary
// memory of the warp. Every lane must call this function.
__device__ __forceinline__ void HideOtherGroups(float* values, float* sums, int experts, int groups,
                                                int kept) {
  const int size = experts / groups;
  for (int group = Lane(); group < groups; group += kWarpSize) {
    sums[group] = SumOfBestTwo(values + group * size, size);
  }
  __syncwarp();
  for (int group = Lane(); group < groups; group += kWarpSize) {
    const unsigned long long key = KeyOf(sums[group], group);
    int better = 0;
    for (int other = 0; other < groups; ++other) better += KeyOf(sums[other], other) > key;
    if (better < kept) continue;
    for (int i = 0; i < size; ++i) values[group * size + i] = -INFINITY;
  }
  __syncwarp();
}

__global__ void __launch_bounds__(kWarpRowThreads)
    ChooseExpertsKernel(const float* scores, const float* bias, RoutingShape shape,
                        RoutingForm form, int64_t* chosen) {
  __shared__ float values_of_warps[kWarpRows][kMaxExperts];
  __shared__ float sums_of_warps[kWarpRows][kMaxExperts / 2];
  const int64_t row = RowOfWarp();
  if (row >= shape.rows) return;
  scores += row * shape.experts;
  chosen += row * form.topk;
  const int experts = static_cast<int>(shape.experts);
  float* values = values_of_warps[threadIdx.x / kWarpSize];
  for (int e = Lane(); e < experts; e += kWarpSize) {
    values[e] = bias == nullptr ? scores[e] : scores[e] + bias[e];
  }
  __syncwarp();
  if (form.groups > 0) {
    HideOtherGroups(values, sums_of_warps[threadIdx.x / kWarpSize], experts,
                    static_cast<int>(form.groups), static_cast<int>(form.group_topk));
  }
  unsigned taken = 0;  // Bit i: this lane's expert number i is already chosen.
  for (int64_t slot = 0; slot < form.topk; ++slot) {
    unsigned long long best = 0;
    for (int i = 0, e = Lane(); e < experts; ++i, e += kWarpSize) {
      if ((taken >> i & 1) == 0) best = max(best, KeyOf(values[e], e));
    }
    const int expert = IndexOf(WarpMax(best));
    if (Lane() == 0) chosen[slot] = expert;
    if (expert % kWarpSize == Lane()) taken |= 1u << (expert / kWarpSize);
  }
}

// Returns the sum that normalizes the chosen scores of a row.
__device__ __forceinline__ float SumOfChosen(const float* scores, const int64_t* chosen,
                                             const RoutingForm& form) {
  float sum = 0;
  for (int64_t slot = 0; slot < form.topk; ++slot) sum += scores[chosen[slot]];
  return form.is_softmax ? sum : sum + kSmallestSum;
}

__global__ void __launch_bounds__(kRowThreads)
    ExpertWeightsKernel(const float* scores, const int64_t* chosen, RoutingShape shape,
                        RoutingForm form, float* weights) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kRowThreads + threadIdx.x;
  if (row >= shape.rows) return;
  scores += row * shape.experts;
  chosen += row * form.topk;
  weights += row * form.topk;
  const float sum = form.is_normalised ? SumOfChosen(scores, chosen, form) : 1.0f;
  for (int64_t slot = 0; slot < form.topk; ++slot) {
    weights[slot] = scores[chosen[slot]] / sum * form.scaling;
  }
}

// Sums over the chosen experts of a row.
struct ChosenSums {
  float scores = 1;  // Sum of the scores; 1 if the weights are not normalized.
  float dot = 0;     // Sum of the products of score and weight gradient.
};

__device__ __forceinline__ ChosenSums SumsOfChosen(const float* d, const float* scores,
                                                   const int64_t* chosen, const RoutingForm& form) {
  ChosenSums sums;
  for (int64_t slot = 0; slot < form.topk; ++slot) {
    sums.dot += scores[chosen[slot]] * d[slot] * form.scaling;
  }
  if (form.is_normalised) sums.scores = SumOfChosen(scores, chosen, form);
  return sums;
}

// Returns the gradient of a chosen logit. `d` is the gradient of its weight, times the scaling.
__device__ __forceinline__ float GradientOfChosen(float d, float score, const ChosenSums& sums,
                                                  const RoutingForm& form) {
  if (form.is_softmax) {
    return form.is_normalised ? score / sums.scores * (d - sums.dot / sums.scores)
                              : score * (d - sums.dot);
  }
  const float d_score = form.is_normalised ? (d - sums.dot / sums.scores) / sums.scores : d;
  return d_score * score * (1.0f - score);
}

__global__ void __launch_bounds__(kWarpRowThreads)
    LogitGradientKernel(LogitGradientArguments arguments, RoutingShape shape, RoutingForm form) {
  const int64_t row = RowOfWarp();
  if (row >= shape.rows) return;
  const float* d = arguments.d_weights + row * form.topk;
  const int64_t* chosen = arguments.chosen + row * form.topk;
  const float* scores = arguments.scores + row * shape.experts;
  const ChosenSums sums = SumsOfChosen(d, scores, chosen, form);
  // Without normalization, every logit is in the denominator of the softmax.
  const bool moves_all = form.is_softmax && !form.is_normalised;
  for (int e = Lane(); e < shape.experts; e += kWarpSize) {
    float gradient = moves_all ? -scores[e] * sums.dot : 0.0f;
    for (int64_t slot = 0; slot < form.topk; ++slot) {
      if (chosen[slot] != e) continue;
      gradient = GradientOfChosen(d[slot] * form.scaling, scores[e], sums, form);
    }
    arguments.d_logits[row * shape.experts + e] = gradient;
  }
}

}  // namespace

void RouterScores(const float* logits, const RoutingShape& shape, const RoutingForm& form,
                  float* scores, cudaStream_t stream) {
  if (shape.rows == 0) return;
  RouterScoresKernel<<<BlocksOfRows(shape.rows), kWarpRowThreads, 0, stream>>>(
      logits, shape, form.is_softmax, scores);
  CheckLaunch("RouterScores");
}

void ChooseExperts(const float* scores, const float* bias, const RoutingShape& shape,
                   const RoutingForm& form, int64_t* chosen, cudaStream_t stream) {
  CheckExpertCount(shape.experts);
  if (shape.rows == 0) return;
  ChooseExpertsKernel<<<BlocksOfRows(shape.rows), kWarpRowThreads, 0, stream>>>(scores, bias, shape,
                                                                                form, chosen);
  CheckLaunch("ChooseExperts");
}

void ExpertWeights(const float* scores, const int64_t* chosen, const RoutingShape& shape,
                   const RoutingForm& form, float* weights, cudaStream_t stream) {
  if (shape.rows == 0) return;
  ExpertWeightsKernel<<<BlocksOfRows(shape.rows, kRowThreads), kRowThreads, 0, stream>>>(
      scores, chosen, shape, form, weights);
  CheckLaunch("ExpertWeights");
}

void RouterLogitGradient(const LogitGradientArguments& arguments, const RoutingShape& shape,
                         const RoutingForm& form, cudaStream_t stream) {
  if (shape.rows == 0) return;
  LogitGradientKernel<<<BlocksOfRows(shape.rows), kWarpRowThreads, 0, stream>>>(arguments, shape,
                                                                                form);
  CheckLaunch("RouterLogitGradient");
}

}  // namespace trainyard::trainer::kernels
