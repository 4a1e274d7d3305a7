// Keeps rows in the registers of the threads that share them. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_ROW_PLAN_CUH_
#define TRAINYARD_TRAINER_KERNELS_ROW_PLAN_CUH_

#include <cstdint>

#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {

// kThreads threads share a row: one warp or a whole block. Each thread has at most kVectors
// vectors: vector i of thread t is vector t + i * kThreads of the row. kVectors is a compile-time
// constant, so that the row stays in registers.
template <int kThreadCount, int kVectorCount>
struct RowPlan {
  static_assert(kThreadCount == kWarpSize || kThreadCount % 128 == 0);
  static constexpr int kThreads = kThreadCount;
  static constexpr int kVectors = kVectorCount;
  static constexpr int kCapacity = kThreads * kVectors;  // Maximum number of vectors per row.
  // The number of threads per block if each warp processes its own row. With many vectors, each
  // thread needs many registers, and smaller blocks fill a multiprocessor better.
  static constexpr int kWarpRowThreads = kVectors <= 4 ? 256 : 128;
  static constexpr int kBlockThreads = kThreads == kWarpSize ? kWarpRowThreads : kThreads;
  static constexpr int kBlockRows = kBlockThreads / kThreads;
};

// Calls function(Plan{}) with the first of the plans that fits rows of `vectors` vectors. If no
// plan fits, returns false without calling `function`.
template <typename... Plans, typename Function>
bool DispatchPlans(int64_t vectors, Function&& function) {
  const auto fits = [&]<typename Plan>(Plan plan) {
    if (vectors > Plan::kCapacity) return false;
    function(plan);
    return true;
  };
  return (fits(Plans{}) || ...);
}

// Calls function(Plan{}) with the smallest plan that fits rows of `vectors` vectors. If no plan
// fits, returns false without calling `function`.
template <typename Function>
bool DispatchRowPlan(int64_t vectors, Function&& function) {
  return DispatchPlans<RowPlan<32, 1>, RowPlan<32, 2>, RowPlan<32, 3>, RowPlan<32, 4>,
                       RowPlan<32, 8>, RowPlan<128, 4>, RowPlan<128, 8>, RowPlan<256, 8>>(vectors,
                                                                                          function);
}

// RowThread returns the index of the calling thread within its row. BlockRow returns the index of
// this row within the block.
template <typename Plan>
__device__ __forceinline__ int RowThread() {
  return threadIdx.x % Plan::kThreads;
}

template <typename Plan>
__device__ __forceinline__ int BlockRow() {
  return threadIdx.x / Plan::kThreads;
}

// One thread's vectors of a row, as stored in memory.
template <typename T, typename Plan>
struct RowPart {
  Vector<T> vectors[Plan::kVectors];
};

// Loads the thread's part of a row. Sets vectors with an index of at least `row_vectors` to zero.
template <typename Plan, typename T>
__device__ __forceinline__ RowPart<T, Plan> LoadRowPart(const T* row, int row_vectors) {
  RowPart<T, Plan> part;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const int index = RowThread<Plan>() + i * Plan::kThreads;
    part.vectors[i] = {make_uint4(0, 0, 0, 0)};
    if (index < row_vectors) {
      part.vectors[i] = LoadVector<kVectorSize<T>>(row + index * kVectorSize<T>);
    }
  }
  return part;
}

// Returns the sum over the threads of a row. Every thread gets the same bits. Every thread of the
// row must call this function.
template <typename Plan>
__device__ __forceinline__ float RowSum(float value) {
  if constexpr (Plan::kThreads == kWarpSize) {
    return WarpSum(value);
  } else {
    return BlockSum<Plan::kThreads>(value);
  }
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ROW_PLAN_CUH_
