#include "trainer/kernels/loss/cross_entropy.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/loss/cross_entropy_row.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

// The maximum number of bytes of a row that are kept in shared memory. A block can have 227 KB. For
// a row of 128,256 bf16 logits, the remaining 27 KB are read again from the L2 cache.
constexpr int64_t kCacheBytes = 224 * 1024;

// Returns log(sum(exp(logits))) - target. The last term corrects the rounding error of the shift.
__device__ float LossOf(const ExpSum& all, float target) {
  return (all.maximum - target) + logf(all.sum) - kLn2 * ShiftError(all.maximum);
}

// Each block processes one row.
template <typename T, int kThreads>
__global__ void __launch_bounds__(kThreads, kThreads == kLossThreads ? kLossBlocks : 1)
    CrossEntropyKernel(CrossEntropyArguments arguments, int cached_vectors) {
  extern __shared__ uint4 cached[];
  const int64_t index = blockIdx.x;
  const float weight = arguments.loss_weights[index];
  T* logits = static_cast<T*>(arguments.logits) + index * arguments.vocabulary;
  const Row<T> row(logits, static_cast<int>(arguments.vocabulary));
  if (weight == 0) {
    if (threadIdx.x == 0) arguments.row_losses[index] = 0;
    if (arguments.with_gradient) WriteZeros<kThreads>(row);
    return;
  }
  T* target = logits + arguments.targets[index];
  const float target_logit = static_cast<float>(*target);
  const Cache cache = {cached, min(cached_vectors, row.vectors())};
  const ExpSum all = SumRow<kThreads>(row, cache);
  if (threadIdx.x == 0) arguments.row_losses[index] = weight * LossOf(all, target_logit);
  if (!arguments.with_gradient) return;
  const float shift = Shift(all.maximum);
  const float scale = weight / all.sum;
  WriteGradient<kThreads>(row, cache,
                          [=](float logit) { return scale * ShiftedExp(logit, shift); });
  __syncthreads();  // Needed because the target's gradient overwrites a value stored above.
  if (threadIdx.x == 0) {
    const float probability = ShiftedExp(target_logit, shift) / all.sum;
    *target = static_cast<T>(weight * (probability - 1));
  }
}

// Launched as a single block.
__global__ void __launch_bounds__(kLossThreads)
    AddLossesKernel(const float* row_losses, int64_t rows, double* loss) {
  double sum = 0;
  for (int64_t row = threadIdx.x; row < rows; row += kLossThreads) sum += row_losses[row];
  sum = BlockSum<kLossThreads>(sum);
  if (threadIdx.x == 0) *loss += sum;
}

template <typename T, int kThreads>
void LaunchKernel(const CrossEntropyArguments& arguments, int64_t cached_vectors,
                  cudaStream_t stream) {
  const auto kernel = CrossEntropyKernel<T, kThreads>;
  CheckCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(kCacheBytes)),
            "CrossEntropy: shared memory");
  kernel<<<static_cast<unsigned>(arguments.rows), kThreads, cached_vectors * kVectorBytes,
           stream>>>(arguments, static_cast<int>(cached_vectors));
  CheckLaunch("CrossEntropy");
}

// The number of threads must not depend on with_gradient, because the order of the sum depends on
// it.
template <typename T>
void LaunchRows(const CrossEntropyArguments& arguments, cudaStream_t stream) {
  const int64_t row_bytes = arguments.vocabulary * static_cast<int64_t>(sizeof(T));
  const int64_t cached_vectors =
      arguments.with_gradient ? std::min(row_bytes, kCacheBytes) / kVectorBytes : 0;
  if (row_bytes <= kCacheBytes / kLossBlocks) {
    LaunchKernel<T, kLossThreads>(arguments, cached_vectors, stream);
  } else {
    LaunchKernel<T, kLongRowThreads>(arguments, cached_vectors, stream);
  }
}

}  // namespace

void CrossEntropy(const CrossEntropyArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  if (arguments.vocabulary > std::numeric_limits<int>::max() / 2) {
    throw KernelError("CrossEntropy: the vocabulary is too large");
  }
  DispatchType(arguments.type,
               [&]<typename T>(std::type_identity<T>) { LaunchRows<T>(arguments, stream); });
  AddLossesKernel<<<1, kLossThreads, 0, stream>>>(arguments.row_losses, arguments.rows,
                                                  arguments.loss);
  CheckLaunch("CrossEntropy: loss");
}

}  // namespace trainyard::trainer::kernels
