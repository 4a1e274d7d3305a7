#include <algorithm>
#include <cmath>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/optimizer/optimizer.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;
// The number of vectors that a thread loads before it uses the first. This number keeps enough
// loads in flight to hide memory latency.
constexpr int kThreadVectors = 4;
constexpr int kSize = kVectorSize<float>;
// The maximum number of blocks for a sum. An H200 runs all these blocks concurrently: 8 on each of
// its 132 multiprocessors.
constexpr int64_t kMaxBlocks = 1024;

int64_t BlocksFor(int64_t count) {
  constexpr int64_t kBlockElements = kThreads * kThreadVectors * kSize;
  return std::clamp<int64_t>((count + kBlockElements - 1) / kBlockElements, 1, kMaxBlocks);
}

// Loads the vector at `index`. The alignment affects how it is loaded, but not the result.
template <bool kIsAligned>
__device__ __forceinline__ void LoadValues(const float* values, int64_t index,
                                           float (&loaded)[kSize]) {
  if constexpr (kIsAligned) {
    LoadFloats(values + index * kSize, loaded);
  } else {
#pragma unroll
    for (int i = 0; i < kSize; ++i) loaded[i] = values[index * kSize + i];
  }
}

// Returns the square in fp64. There the square of an fp32 number is exact and never overflows.
__device__ __forceinline__ double Square(float value) {
  return static_cast<double>(value) * static_cast<double>(value);
}

// Returns the sum of the squares of the thread's elements: the elements of every `threads`-th
// vector, and at most one element after the last whole vector.
template <bool kIsAligned>
__device__ double SumOfThread(const float* values, int64_t count, int64_t thread, int64_t threads) {
  const int64_t vectors = count / kSize;
  double sum = 0;
  for (int64_t first = thread; first < vectors; first += kThreadVectors * threads) {
    float loaded[kThreadVectors][kSize] = {};
#pragma unroll
    for (int k = 0; k < kThreadVectors; ++k) {
      const int64_t index = first + k * threads;
      if (index < vectors) LoadValues<kIsAligned>(values, index, loaded[k]);
    }
#pragma unroll
    for (int k = 0; k < kThreadVectors; ++k) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) sum += Square(loaded[k][i]);
    }
  }
  const int64_t last = vectors * kSize + thread;
  if (last < count) sum += Square(values[last]);
  return sum;
}

// Computes one partial sum per block.
template <bool kIsAligned>
__global__ void __launch_bounds__(kThreads)
    SquaredSumKernel(const float* values, int64_t count, double* partials) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * kThreads;
  const double sum = BlockSum<kThreads>(SumOfThread<kIsAligned>(values, count, thread, threads));
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// Launched as a single block.
__global__ void __launch_bounds__(kThreads)
    AddPartialsKernel(const double* partials, int64_t count, double* total) {
  double sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += kThreads) sum += partials[i];
  sum = BlockSum<kThreads>(sum);
  if (threadIdx.x == 0) *total = sum;
}

// Launched as a single thread, because there are few parts.
__global__ void FinishNormKernel(FinishNormArguments arguments) {
  const auto value = [&](StepValue which) -> double& {
    return arguments.step_values[static_cast<int64_t>(which)];
  };
  double sum = 0;
  for (int64_t i = 0; i < arguments.parts; ++i) sum += arguments.squared_norms[i];
  const double norm = sqrt(sum);
  const bool clips = arguments.max_norm > 0 && norm > arguments.max_norm;
  const double scale = clips ? arguments.max_norm / norm : 1.0;
  value(StepValue::kGradientNorm) = norm;
  value(StepValue::kGradientScale) = scale;
  value(StepValue::kFinite) = IsUsable(norm, scale, value(StepValue::kLoss)) ? 1.0 : 0.0;
}

}  // namespace

int64_t SquaredSumWorkspaceDoubles(int64_t count) { return BlocksFor(count); }

void SquaredSum(const SquaredSumArguments& arguments, cudaStream_t stream) {
  const int64_t blocks = BlocksFor(arguments.count);
  const auto kernel =
      TakesVectors<float>(0, {arguments.values}) ? SquaredSumKernel<true> : SquaredSumKernel<false>;
  kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(arguments.values, arguments.count,
                                                                 arguments.workspace);
  CheckLaunch("SquaredSum");
  AddPartialsKernel<<<1, kThreads, 0, stream>>>(arguments.workspace, blocks, arguments.sum);
  CheckLaunch("SquaredSum: partial sums");
}

void FinishNorm(const FinishNormArguments& arguments, cudaStream_t stream) {
  FinishNormKernel<<<1, 1, 0, stream>>>(arguments);
  CheckLaunch("FinishNorm");
}

}  // namespace trainyard::trainer::kernels
