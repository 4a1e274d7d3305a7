#include "trainer/kernels/bias.h"

#include <algorithm>

#include "trainer/kernels/column_sums.cuh"
#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/partial_sums.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kAddThreads = 256;

// The thread block of a sum covers kSumColumns adjacent vectors (x) and kSumRows rows (y).
constexpr int kSumColumns = kWarpSize;
constexpr int kSumRows = 8;
// The number of rows that a thread loads before it adds the first. This number keeps enough loads
// in flight to hide memory latency.
constexpr int kThreadRows = 4;
// kSumBlocks is the number of blocks that fill the GPU. kBlockColumns is the number of bf16 columns
// per block.
constexpr int64_t kSumBlocks = 4 * kMultiprocessors;
constexpr int64_t kBlockColumns = kSumColumns * 8;

template <typename T, int kSize>
__global__ void __launch_bounds__(kAddThreads)
    AddBiasKernel(AddBiasArguments arguments, int64_t vectors, int64_t row_vectors) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kAddThreads + threadIdx.x;
  if (index >= vectors) return;
  T* y = static_cast<T*>(arguments.y) + index * kSize;
  float values[kSize];
  float bias[kSize];
  LoadFloats(y, values);
  LoadFloats(static_cast<const T*>(arguments.bias) + index % row_vectors * kSize, bias);
#pragma unroll
  for (int e = 0; e < kSize; ++e) values[e] += bias[e];
  StoreFloats(y, values);
}

// Adds to `sums` the thread's rows of a slice: row `first` and every kSumRows-th row after it.
template <typename T, int kSize>
__device__ __forceinline__ void SumRows(const T* dy, int64_t width, int64_t first, int64_t end,
                                        float (&sums)[kSize]) {
  for (int64_t row = first; row < end; row += kSumRows * kThreadRows) {
    Vector<T, kSize> loaded[kThreadRows];
#pragma unroll
    for (int k = 0; k < kThreadRows; ++k) {
      if (row + k * kSumRows >= end) break;
      loaded[k] = LoadVector<kSize>(dy + (row + k * kSumRows) * width);
    }
#pragma unroll
    for (int k = 0; k < kThreadRows; ++k) {
      if (row + k * kSumRows >= end) break;
      float values[kSize];
      ToFloats(loaded[k], values);
#pragma unroll
      for (int e = 0; e < kSize; ++e) sums[e] += values[e];
    }
  }
}

// Each row of blocks (blockIdx.y) sums one slice of the rows, and writes the result to one row of
// the workspace.
template <typename T, int kSize>
__global__ void __launch_bounds__(kSumColumns* kSumRows)
    SumSlicesKernel(BiasGradientArguments arguments, int64_t slice_rows) {
  __shared__ float shared[kSumRows][kSize][kSumColumns];
  const int64_t column = (static_cast<int64_t>(blockIdx.x) * kSumColumns + threadIdx.x) * kSize;
  const bool is_inside = column < arguments.width;
  const int64_t first = blockIdx.y * slice_rows;
  const int64_t end = min(first + slice_rows, arguments.rows);
  float sums[kSize] = {};
  if (is_inside) {
    SumRows(static_cast<const T*>(arguments.dy) + column, arguments.width, first + threadIdx.y, end,
            sums);
  }
#pragma unroll
  for (int e = 0; e < kSize; ++e) shared[threadIdx.y][e][threadIdx.x] = sums[e];
  __syncthreads();
  if (threadIdx.y != 0 || !is_inside) return;
  for (int row = 1; row < kSumRows; ++row) {
#pragma unroll
    for (int e = 0; e < kSize; ++e) sums[e] += shared[row][e][threadIdx.x];
  }
  StoreFloats(arguments.workspace + blockIdx.y * arguments.width + column, sums);
}

// Returns the number of slices into which the rows are divided. The number gives enough blocks to
// fill the GPU and at least a few rows per block.
int64_t SlicesOf(int64_t rows, int64_t width) {
  const int64_t columns = (width + kBlockColumns - 1) / kBlockColumns;
  const int64_t fewest_rows = kSumRows * kThreadRows;
  return std::clamp<int64_t>((kSumBlocks + columns - 1) / columns, 1,
                             std::max<int64_t>((rows + fewest_rows - 1) / fewest_rows, 1));
}

template <typename T, int kSize>
void LaunchAdd(const AddBiasArguments& arguments, cudaStream_t stream) {
  const int64_t row_vectors = arguments.width / kSize;
  const int64_t vectors = arguments.rows * row_vectors;
  const int64_t blocks = (vectors + kAddThreads - 1) / kAddThreads;
  AddBiasKernel<T, kSize>
      <<<static_cast<unsigned>(blocks), kAddThreads, 0, stream>>>(arguments, vectors, row_vectors);
  CheckLaunch("AddBias");
}

template <typename T, int kSize>
void LaunchSums(const BiasGradientArguments& arguments, int64_t slices, cudaStream_t stream) {
  const int64_t block_columns = kSumColumns * kSize;
  const dim3 grid(static_cast<unsigned>((arguments.width + block_columns - 1) / block_columns),
                  static_cast<unsigned>(slices));
  const int64_t slice_rows = (arguments.rows + slices - 1) / slices;
  SumSlicesKernel<T, kSize>
      <<<grid, dim3(kSumColumns, kSumRows), 0, stream>>>(arguments, slice_rows);
  CheckLaunch("BiasGradient");
}

}  // namespace

void AddBias(const AddBiasArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.width, {arguments.bias, arguments.y})) {
      LaunchAdd<T, kVectorSize<T>>(arguments, stream);
    } else {
      LaunchAdd<T, 1>(arguments, stream);
    }
  });
}

int64_t BiasGradientWorkspaceFloats(int64_t rows, int64_t width) {
  return SlicesOf(rows, width) * width;
}

void BiasGradient(const BiasGradientArguments& arguments, cudaStream_t stream) {
  const int64_t slices = arguments.rows == 0 ? 0 : SlicesOf(arguments.rows, arguments.width);
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (slices == 0) return;
    if (TakesVectors<T>(arguments.width, {arguments.dy, arguments.workspace})) {
      LaunchSums<T, kVectorSize<T>>(arguments, slices, stream);
    } else {
      LaunchSums<T, 1>(arguments, slices, stream);
    }
  });
  AddPartialSums({.partial = arguments.workspace,
                  .sum = arguments.gradient,
                  .count = slices,
                  .stride = arguments.width,
                  .width = arguments.width,
                  .accumulate = arguments.accumulate},
                 stream);
}

}  // namespace trainyard::trainer::kernels
