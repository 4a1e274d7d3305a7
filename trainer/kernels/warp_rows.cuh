// Kernels in which each warp processes one row of experts. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_WARP_ROWS_CUH_
#define TRAINYARD_TRAINER_KERNELS_WARP_ROWS_CUH_

#include <cstdint>

#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {

// The number of threads and of rows per block.
inline constexpr int kWarpRowThreads = 128;
inline constexpr int kWarpRows = kWarpRowThreads / kWarpSize;

// Lane i has the experts i, i + kWarpSize, ...
__device__ __forceinline__ int Lane() { return threadIdx.x % kWarpSize; }

__device__ __forceinline__ int64_t RowOfWarp() {
  return static_cast<int64_t>(blockIdx.x) * kWarpRows + threadIdx.x / kWarpSize;
}

// Returns the number of blocks for `rows` rows.
inline unsigned BlocksOfRows(int64_t rows, int block_rows = kWarpRows) {
  return static_cast<unsigned>((rows + block_rows - 1) / block_rows);
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_WARP_ROWS_CUH_
