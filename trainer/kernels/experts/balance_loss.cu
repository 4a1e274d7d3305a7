#include "trainer/kernels/experts/balance_loss.h"

#include <algorithm>
#include <cmath>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/experts/slot_order.h"
#include "trainer/kernels/vector_access.cuh"
#include "trainer/kernels/warp_rows.cuh"

namespace trainyard::trainer::kernels {
namespace {

// The number of rows that a block counts: large enough that few blocks add to each count.
constexpr int64_t kCountRows = 1024;
constexpr int kCountThreads = 256;

// A block counts kCountRows rows (blockIdx.x) of one sequence (blockIdx.y). Additions of integers
// give the same sum in every order.
__global__ void __launch_bounds__(kCountThreads)
    CountExpertsKernel(const int64_t* chosen, RoutingShape shape, int64_t topk,
                       SequenceRows sequences, unsigned long long* counts) {
  __shared__ unsigned histogram[kMaxExperts];
  const int experts = static_cast<int>(shape.experts);
  const int64_t sequence = blockIdx.y;
  // Rows of this rank in the sequence.
  const int64_t begin = max(sequence * sequences.length - sequences.first, int64_t{0});
  const int64_t end = min((sequence + 1) * sequences.length - sequences.first, shape.rows);
  const int64_t first = begin + blockIdx.x * kCountRows;
  if (first >= end) return;
  for (int e = threadIdx.x; e < experts; e += kCountThreads) histogram[e] = 0;
  __syncthreads();
  const int64_t last_slot = min(first + kCountRows, end) * topk;
  for (int64_t slot = first * topk + threadIdx.x; slot < last_slot; slot += kCountThreads) {
    if (chosen[slot] >= 0) atomicAdd(&histogram[chosen[slot]], 1u);
  }
  __syncthreads();
  for (int e = threadIdx.x; e < experts; e += kCountThreads) {
    if (histogram[e] != 0) atomicAdd(&counts[sequence * experts + e], histogram[e]);
  }
}

__global__ void __launch_bounds__(kWarpRowThreads)
    BalanceGradientKernel(BalanceGradientArguments arguments, RoutingShape shape, bool is_softmax,
                          SequenceRows sequences) {
  const int64_t row = RowOfWarp();
  if (row >= shape.rows) return;
  const float* scores = arguments.scores + row * shape.experts;
  const int64_t* counts =
      arguments.counts + (sequences.first + row) / sequences.length * shape.experts;
  const auto d_share = [&](int e) {
    return static_cast<float>(static_cast<double>(counts[e]) * arguments.factor);
  };
  float sum = 0;
  float dot = 0;
  for (int e = Lane(); e < shape.experts; e += kWarpSize) {
    sum += scores[e];
    dot += d_share(e) * scores[e];
  }
  sum = is_softmax ? 1.0f : WarpSum(sum);
  dot = WarpSum(dot);
  float* d_logits = arguments.d_logits + row * shape.experts;
  for (int e = Lane(); e < shape.experts; e += kWarpSize) {
    const float slope = is_softmax ? scores[e] : scores[e] * (1.0f - scores[e]);
    d_logits[e] += (d_share(e) - dot / sum) / sum * slope;
  }
}

__global__ void __launch_bounds__(kWarpRowThreads)
    ZLossGradientKernel(const float* logits, RoutingShape shape, float factor, float* d_logits) {
  const int64_t row = RowOfWarp();
  if (row >= shape.rows) return;
  logits += row * shape.experts;
  d_logits += row * shape.experts;
  float maximum = -INFINITY;
  for (int e = Lane(); e < shape.experts; e += kWarpSize) maximum = fmaxf(maximum, logits[e]);
  maximum = WarpMax(maximum);
  float sum = 0;
  for (int e = Lane(); e < shape.experts; e += kWarpSize) sum += expf(logits[e] - maximum);
  sum = WarpSum(sum);
  const float scale = factor * (maximum + logf(sum)) / sum;
  for (int e = Lane(); e < shape.experts; e += kWarpSize) {
    d_logits[e] += scale * expf(logits[e] - maximum);
  }
}

}  // namespace

void CountExperts(const int64_t* chosen, const RoutingShape& shape, int64_t topk,
                  const SequenceRows& sequences, int64_t* counts, cudaStream_t stream) {
  CheckExpertCount(shape.experts);
  const size_t bytes = sequences.count * shape.experts * sizeof(int64_t);
  CheckCuda(cudaMemsetAsync(counts, 0, bytes, stream), "cudaMemsetAsync");
  if (shape.rows == 0) return;
  const int64_t rows = std::min(sequences.length, shape.rows);
  const dim3 grid(static_cast<unsigned>((rows + kCountRows - 1) / kCountRows),
                  static_cast<unsigned>(sequences.count));
  CountExpertsKernel<<<grid, kCountThreads, 0, stream>>>(
      chosen, shape, topk, sequences, reinterpret_cast<unsigned long long*>(counts));
  CheckLaunch("CountExperts");
}

void AddBalanceGradient(const BalanceGradientArguments& arguments, const RoutingShape& shape,
                        const RoutingForm& form, const SequenceRows& sequences,
                        cudaStream_t stream) {
  if (shape.rows == 0) return;
  BalanceGradientKernel<<<BlocksOfRows(shape.rows), kWarpRowThreads, 0, stream>>>(
      arguments, shape, form.is_softmax, sequences);
  CheckLaunch("AddBalanceGradient");
}

void AddZLossGradient(const float* logits, const RoutingShape& shape, float factor, float* d_logits,
                      cudaStream_t stream) {
  if (shape.rows == 0) return;
  ZLossGradientKernel<<<BlocksOfRows(shape.rows), kWarpRowThreads, 0, stream>>>(logits, shape,
                                                                                factor, d_logits);
  CheckLaunch("AddZLossGradient");
}

}  // namespace trainyard::trainer::kernels
