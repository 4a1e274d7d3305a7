// Column sums over the rows of a block, for rows kept in registers. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_COLUMN_SUMS_CUH_
#define TRAINYARD_TRAINER_KERNELS_COLUMN_SUMS_CUH_

#include "trainer/kernels/row_plan.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {

// Multiprocessors of the GPUs for which grids are sized (H100 and H200). A constant, not the number
// of the current GPU, because the grid determines the order of sums over rows.
inline constexpr int kMultiprocessors = 132;

// A thread's sums over its rows, for the columns of its vectors.
template <typename T, typename Plan>
using ColumnSums = float[Plan::kVectors][kVectorSize<T>];

// Adds the sums of the rows processed concurrently by a block, in row order. The threads of the
// last row get the result. Every thread of the block must call it.
template <typename T, typename Plan>
__device__ __forceinline__ void AddBlockRows(ColumnSums<T, Plan>& sums) {
  __shared__ float shared[Plan::kVectors][kVectorSize<T>][Plan::kThreads];
  for (int row = 0; row < Plan::kBlockRows; ++row) {
    if (BlockRow<Plan>() == row) {
#pragma unroll
      for (int i = 0; i < Plan::kVectors; ++i) {
#pragma unroll
        for (int e = 0; e < kVectorSize<T>; ++e) {
          float& sum = shared[i][e][RowThread<Plan>()];
          if (row > 0) sums[i][e] += sum;
          sum = sums[i][e];
        }
      }
    }
    __syncthreads();
  }
}

// partial: the block's row of partial sums.
template <typename T, typename Plan>
__device__ __forceinline__ void StoreColumns(const ColumnSums<T, Plan>& sums, int row_vectors,
                                             float* partial) {
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const int index = RowThread<Plan>() + i * Plan::kThreads;
    if (index >= row_vectors) break;
    StoreFloats(partial + index * kVectorSize<T>, sums[i]);
  }
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_COLUMN_SUMS_CUH_
