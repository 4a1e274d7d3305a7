// Computes column sums over the rows that a block keeps in registers. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_COLUMN_SUMS_CUH_
#define TRAINYARD_TRAINER_KERNELS_COLUMN_SUMS_CUH_

#include "trainer/kernels/row_plan.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {

// The number of multiprocessors for which grids are sized (that of H100 and H200). It is a constant
// and does not depend on the current GPU, because the grid determines the order of sums over rows.
inline constexpr int kMultiprocessors = 132;

// The sums of a thread over its rows, for the columns of its vectors.
template <typename T, typename Plan>
using ColumnSums = float[Plan::kVectors][kVectorSize<T>];

// Adds the sums of the rows that a block processes concurrently, in row order. The threads of the
// last row get the result. Every thread of the block must call this function.
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

// `partial` is the block's row of partial sums.
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
