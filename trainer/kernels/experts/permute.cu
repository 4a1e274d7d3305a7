#include "trainer/kernels/experts/permute.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

// Each warp processes the row of one token.
constexpr int kThreads = 256;
constexpr int kBlockRows = kThreads / kWarpSize;
// The number of vectors of one row that a thread loads before it uses the first. This number keeps
// enough loads in flight to hide memory latency.
constexpr int kGatherVectors = 4;
constexpr int kSumVectors = 2;

__device__ __forceinline__ int64_t TokenOfWarp() {
  return static_cast<int64_t>(blockIdx.x) * kBlockRows + threadIdx.x / kWarpSize;
}

// Loads the vectors at `index`, index + kWarpSize, ... of a row. Vectors after the end of the row
// are not loaded.
template <int kSize, typename T, int kCount>
__device__ __forceinline__ void LoadPart(const T* row, int64_t index, int64_t row_vectors,
                                         Vector<T, kSize> (&part)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const int64_t vector = index + i * kWarpSize;
    if (vector < row_vectors) part[i] = LoadVector<kSize>(row + vector * kSize);
  }
}

template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    GatherRowsKernel(GatherRowsArguments arguments, int64_t row_vectors) {
  const int64_t token = TokenOfWarp();
  if (token >= arguments.tokens) return;
  const T* x = static_cast<const T*>(arguments.x) + token * arguments.width;
  const int64_t* places = arguments.places + token * arguments.topk;
  constexpr int kStep = kGatherVectors * kWarpSize;
  for (int64_t index = threadIdx.x % kWarpSize; index < row_vectors; index += kStep) {
    Vector<T, kSize> part[kGatherVectors];
    LoadPart<kSize>(x, index, row_vectors, part);
    for (int64_t slot = 0; slot < arguments.topk; ++slot) {
      const int64_t place = places[slot];
      if (place >= arguments.rows) continue;
      T* row = static_cast<T*>(arguments.sorted) + place * arguments.width;
#pragma unroll
      for (int i = 0; i < kGatherVectors; ++i) {
        const int64_t vector = index + i * kWarpSize;
        if (vector < row_vectors) StoreVector(row + vector * kSize, part[i]);
      }
    }
  }
}

template <typename T, int kSize, int kCount>
__device__ __forceinline__ void AddPart(const Vector<T, kSize> (&part)[kCount],
                                        float (&sums)[kCount][kSize]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    float values[kSize];
    ToFloats(part[i], values);
#pragma unroll
    for (int e = 0; e < kSize; ++e) sums[i][e] += values[e];
  }
}

// y may be the residual: a thread loads its part of the residual before it stores the sum, and no
// other thread reads that part.
template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    SumSlotsKernel(SumSlotsArguments arguments, int64_t row_vectors) {
  const int64_t token = TokenOfWarp();
  if (token >= arguments.tokens) return;
  const int64_t offset = token * arguments.width;
  const int64_t* places = arguments.places + token * arguments.topk;
  const T* sorted = static_cast<const T*>(arguments.sorted);
  constexpr int kStep = kSumVectors * kWarpSize;
  for (int64_t index = threadIdx.x % kWarpSize; index < row_vectors; index += kStep) {
    Vector<T, kSize> residual[kSumVectors];
    if (arguments.residual != nullptr) {
      LoadPart<kSize>(static_cast<const T*>(arguments.residual) + offset, index, row_vectors,
                      residual);
    }
    float sums[kSumVectors][kSize] = {};
#pragma unroll 2
    for (int64_t slot = 0; slot < arguments.topk; ++slot) {
      const int64_t place = places[slot];
      if (place >= arguments.rows) continue;
      Vector<T, kSize> part[kSumVectors] = {};
      LoadPart<kSize>(sorted + place * arguments.width, index, row_vectors, part);
      AddPart(part, sums);
    }
    if (arguments.residual != nullptr) AddPart(residual, sums);
#pragma unroll
    for (int i = 0; i < kSumVectors; ++i) {
      const int64_t vector = index + i * kWarpSize;
      if (vector < row_vectors) {
        StoreFloats(static_cast<T*>(arguments.y) + offset + vector * kSize, sums[i]);
      }
    }
  }
}

unsigned Blocks(int64_t tokens) {
  return static_cast<unsigned>((tokens + kBlockRows - 1) / kBlockRows);
}

}  // namespace

void GatherRows(const GatherRowsArguments& arguments, cudaStream_t stream) {
  if (arguments.tokens == 0 || arguments.rows == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    const unsigned blocks = Blocks(arguments.tokens);
    if (TakesVectors<T>(arguments.width, {arguments.x, arguments.sorted})) {
      GatherRowsKernel<T, kVectorSize<T>>
          <<<blocks, kThreads, 0, stream>>>(arguments, arguments.width / kVectorSize<T>);
    } else {
      GatherRowsKernel<T, 1><<<blocks, kThreads, 0, stream>>>(arguments, arguments.width);
    }
    CheckLaunch("GatherRows");
  });
}

void SumSlots(const SumSlotsArguments& arguments, cudaStream_t stream) {
  if (arguments.tokens == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    const unsigned blocks = Blocks(arguments.tokens);
    if (TakesVectors<T>(arguments.width, {arguments.sorted, arguments.residual, arguments.y})) {
      SumSlotsKernel<T, kVectorSize<T>>
          <<<blocks, kThreads, 0, stream>>>(arguments, arguments.width / kVectorSize<T>);
    } else {
      SumSlotsKernel<T, 1><<<blocks, kThreads, 0, stream>>>(arguments, arguments.width);
    }
    CheckLaunch("SumSlots");
  });
}

}  // namespace trainyard::trainer::kernels
