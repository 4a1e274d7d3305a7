#include "trainer/kernels/attention/attention_merge.h"

#include <algorithm>
#include <type_traits>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;

// One head at one position. In memory order, the head changes fastest.
struct HeadRow {
  int64_t batch;
  int64_t position;
  int64_t head;

  __device__ HeadRow(const MergeAttentionArguments& arguments, int64_t index)
      : batch(index / arguments.heads / arguments.length),
        position(index / arguments.heads % arguments.length),
        head(index % arguments.heads) {}

  __device__ int64_t OffsetIn(const AttentionStrides& strides, int64_t head_size) const {
    return batch * strides.batch + position * strides.token + head * head_size;
  }
  __device__ int64_t OffsetIn(const AttentionRowStrides& strides) const {
    return batch * strides.batch + head * strides.head + position;
  }
};

// The weights of the two outputs in the merged attention.
struct MergeWeights {
  float own;
  float part;
  float log_sum_exp;  // Log-sum-exp of the merged attention.
};

// Computes the exponentials relative to the larger value, so no exponential overflows. fmaxf
// ignores a NaN, but the differences propagate it.
__device__ __forceinline__ MergeWeights WeightsOf(float own, float part) {
  const float largest = fmaxf(own, part);
  const float own_power = expf(own - largest);
  const float part_power = expf(part - largest);
  const float sum = own_power + part_power;
  return {own_power / sum, part_power / sum, largest + logf(sum)};
}

template <typename T, int kSize>
__device__ __forceinline__ void MergeVector(const MergeWeights& weights, const T* part,
                                            float* out_sum) {
  float own_values[kSize];
  float part_values[kSize];
  LoadFloats(out_sum, own_values);
  LoadFloats(part, part_values);
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    own_values[i] = fmaf(weights.own, own_values[i], weights.part * part_values[i]);
  }
  StoreFloats(out_sum, own_values);
}

// The threads with equal threadIdx.y process the same head of the same position.
template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads) MergeKernel(MergeAttentionArguments arguments) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (index >= arguments.batch * arguments.length * arguments.heads) return;
  const HeadRow row(arguments, index);
  float* log_sum_exp = arguments.log_sum_exp + row.OffsetIn(arguments.log_sum_exp_strides);
  const float part_log_sum_exp =
      arguments.part_log_sum_exp[row.OffsetIn(arguments.part_log_sum_exp_strides)];
  const MergeWeights weights = WeightsOf(*log_sum_exp, part_log_sum_exp);
  __syncthreads();  // Waits until all threads of the head have read the old value.
  if (threadIdx.x == 0) *log_sum_exp = weights.log_sum_exp;
  float* out_sum = arguments.out_sum + row.OffsetIn(arguments.out_sum_strides, arguments.head_size);
  const T* part = static_cast<const T*>(arguments.part_out) +
                  row.OffsetIn(arguments.part_out_strides, arguments.head_size);
  const int64_t step = static_cast<int64_t>(blockDim.x) * kSize;
  for (int64_t first = threadIdx.x * kSize; first < arguments.head_size; first += step) {
    MergeVector<T, kSize>(weights, part + first, out_sum + first);
  }
}

template <typename T, int kSize>
void Launch(const MergeAttentionArguments& arguments, cudaStream_t stream) {
  const int64_t vectors = arguments.head_size / kSize;
  const auto row_threads = static_cast<unsigned>(std::min<int64_t>(vectors, kThreads));
  const unsigned block_rows = kThreads / row_threads;
  const int64_t rows = arguments.batch * arguments.length * arguments.heads;
  const auto blocks = static_cast<unsigned>((rows + block_rows - 1) / block_rows);
  MergeKernel<T, kSize><<<blocks, dim3(row_threads, block_rows), 0, stream>>>(arguments);
  CheckLaunch("MergeAttention");
}

// True if every head begins at an address that is aligned to the vectors of both types.
template <typename T>
bool HeadsTakeVectors(const MergeAttentionArguments& arguments) {
  const auto takes = [&](const AttentionStrides& strides, int64_t vector_size) {
    return strides.batch % vector_size == 0 && strides.token % vector_size == 0;
  };
  return TakesVectors<T>(arguments.head_size, {arguments.out_sum, arguments.part_out}) &&
         takes(arguments.out_sum_strides, kVectorSize<float>) &&
         takes(arguments.part_out_strides, kVectorSize<T>);
}

}  // namespace

void MergeAttention(const MergeAttentionArguments& arguments, cudaStream_t stream) {
  if (arguments.batch == 0 || arguments.length == 0) return;
  DispatchType(arguments.part_type, [&]<typename T>(std::type_identity<T>) {
    if (HeadsTakeVectors<T>(arguments)) {
      Launch<T, kVectorSize<T>>(arguments, stream);
    } else {
      Launch<T, 1>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
