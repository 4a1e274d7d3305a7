#include "trainer/kernels/loss/vocabulary_cross_entropy.h"

#include <limits>
#include <type_traits>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/loss/cross_entropy_row.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kStatistics = 3;  // Number of statistics per row.

// Returns the position of the row's target within this part of the vocabulary; -1 if the target is
// in another part.
__device__ __forceinline__ int64_t TargetPlace(int64_t target, int64_t first_token, int64_t width) {
  const int64_t place = target - first_token;
  return place >= 0 && place < width ? place : -1;
}

// Returns the sum of exp(logit - maximum), corrected for the rounding error of logit - maximum. If
// the sum is 0, returns 0 without the correction, because the maximum is then kNoMaximum, whose
// rounding error is too large.
__device__ float SumBelowMaximum(const ExpSum& all) {
  return all.sum == 0 ? 0.0f : all.sum * expf(-kLn2 * ShiftError(all.maximum));
}

// Each block processes one row.
template <typename T>
__global__ void __launch_bounds__(kLossThreads, kLossBlocks)
    StatisticsKernel(CrossEntropyStatisticsArguments arguments) {
  const int64_t index = blockIdx.x;
  // This kernel only reads the logits. The const_cast is needed because Row, which other kernels
  // use for writing, takes a non-const pointer.
  T* logits = static_cast<T*>(const_cast<void*>(arguments.logits)) + index * arguments.width;
  const Row<T> row(logits, static_cast<int>(arguments.width));
  const ExpSum all = SumRow<kLossThreads>(row, Cache{});
  if (threadIdx.x != 0) return;
  const int64_t place =
      TargetPlace(arguments.targets[index], arguments.first_token, arguments.width);
  float* statistics = arguments.statistics + index * kStatistics;
  statistics[0] = all.maximum;
  statistics[1] = SumBelowMaximum(all);
  statistics[2] = place < 0 ? 0.0f : static_cast<float>(logits[place]);
}

// Each block processes one row. Subtracts log_sum_exp from a logit before scaling by log2(e),
// because the difference is exact for large probabilities.
template <typename T>
__global__ void __launch_bounds__(kLossThreads, kLossBlocks)
    PartGradientKernel(CrossEntropyOfPartArguments arguments) {
  const int64_t index = blockIdx.x;
  const float weight = arguments.loss_weights[index];
  T* logits = static_cast<T*>(arguments.logits) + index * arguments.width;
  const Row<T> row(logits, static_cast<int>(arguments.width));
  if (weight == 0) {
    WriteZeros<kLossThreads>(row);
    return;
  }
  const float log_sum_exp = arguments.combined[2 * index];
  const auto probability = [=](float logit) { return Exp2((logit - log_sum_exp) * kLog2E); };
  WriteGradient<kLossThreads>(row, Cache{},
                              [=](float logit) { return weight * probability(logit); });
  const int64_t place =
      TargetPlace(arguments.targets[index], arguments.first_token, arguments.width);
  if (place < 0) return;
  __syncthreads();  // Needed because the target's gradient overwrites a value stored above.
  if (threadIdx.x == 0) {
    const float target_logit = arguments.combined[2 * index + 1];
    logits[place] = static_cast<T>(weight * (probability(target_logit) - 1));
  }
}

// Launched as a single block.
__global__ void __launch_bounds__(kLossThreads)
    AddPartLossesKernel(const float* combined, const float* weights, int64_t rows, double* loss) {
  double sum = 0;
  for (int64_t row = threadIdx.x; row < rows; row += kLossThreads) {
    if (weights[row] != 0) sum += weights[row] * (combined[2 * row] - combined[2 * row + 1]);
  }
  sum = BlockSum<kLossThreads>(sum);
  if (threadIdx.x == 0) *loss += sum;
}

void CheckWidth(int64_t width) {
  if (width > std::numeric_limits<int>::max() / 2) {
    throw KernelError("CrossEntropyOfPart: the part of the vocabulary is too large");
  }
}

}  // namespace

void CrossEntropyStatistics(const CrossEntropyStatisticsArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  CheckWidth(arguments.width);
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    StatisticsKernel<T>
        <<<static_cast<unsigned>(arguments.rows), kLossThreads, 0, stream>>>(arguments);
  });
  CheckLaunch("CrossEntropyStatistics");
}

void CrossEntropyOfPart(const CrossEntropyOfPartArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  CheckWidth(arguments.width);
  if (arguments.with_gradient) {
    DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
      PartGradientKernel<T>
          <<<static_cast<unsigned>(arguments.rows), kLossThreads, 0, stream>>>(arguments);
    });
    CheckLaunch("CrossEntropyOfPart: gradient");
  }
  AddPartLossesKernel<<<1, kLossThreads, 0, stream>>>(arguments.combined, arguments.loss_weights,
                                                      arguments.rows, arguments.loss);
  CheckLaunch("CrossEntropyOfPart: loss");
}

}  // namespace trainyard::trainer::kernels
