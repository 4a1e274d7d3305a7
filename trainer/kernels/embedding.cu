#include "trainer/kernels/embedding.h"

#include <algorithm>
#include <type_traits>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kMaxThreads = 256;
// The number of rows that a thread loads before it stores the first. This number keeps enough loads
// in flight to hide memory latency.
constexpr int kThreadRows = 4;

// Computes place += vector and rounds once.
template <typename T, int kSize>
__device__ __forceinline__ void AddVector(const Vector<T, kSize>& vector, T* place) {
  float added[kSize];
  float values[kSize];
  ToFloats(vector, added);
  LoadFloats(place, values);
#pragma unroll
  for (int e = 0; e < kSize; ++e) values[e] += added[e];
  StoreFloats(place, values);
}

// Copies or adds one vector column of kThreadRows rows. A token outside the table gives zeros.
template <typename T, int kSize>
__global__ void __launch_bounds__(kMaxThreads)
    EmbeddingForwardKernel(EmbeddingForwardArguments arguments) {
  const int64_t column = (static_cast<int64_t>(blockIdx.y) * blockDim.x + threadIdx.x) * kSize;
  if (column >= arguments.width) return;
  const T* table = static_cast<const T*>(arguments.table) + column;
  T* out = static_cast<T*>(arguments.out) + column;
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * kThreadRows;
  int64_t places[kThreadRows];  // Table row of each token.
  Vector<T, kSize> loaded[kThreadRows];
#pragma unroll
  for (int k = 0; k < kThreadRows; ++k) {
    if (first_row + k >= arguments.rows) break;
    places[k] = arguments.tokens[first_row + k] - arguments.first_token;
  }
#pragma unroll
  for (int k = 0; k < kThreadRows; ++k) {
    if (first_row + k >= arguments.rows) break;
    const bool is_inside = places[k] >= 0 && places[k] < arguments.table_rows;
    loaded[k] =
        is_inside ? LoadVector<kSize>(table + places[k] * arguments.width) : Vector<T, kSize>{};
  }
#pragma unroll
  for (int k = 0; k < kThreadRows; ++k) {
    if (first_row + k >= arguments.rows) break;
    T* place = out + (first_row + k) * arguments.width;
    arguments.accumulate ? AddVector(loaded[k], place) : StoreVector(place, loaded[k]);
  }
}

template <typename T, int kSize>
void Launch(const EmbeddingForwardArguments& arguments, cudaStream_t stream) {
  const int64_t columns = arguments.width / kSize;
  const int64_t warps = (columns + kWarpSize - 1) / kWarpSize;
  const int64_t threads = std::min<int64_t>(warps * kWarpSize, kMaxThreads);
  const dim3 grid(static_cast<unsigned>((arguments.rows + kThreadRows - 1) / kThreadRows),
                  static_cast<unsigned>((columns + threads - 1) / threads));
  EmbeddingForwardKernel<T, kSize><<<grid, static_cast<unsigned>(threads), 0, stream>>>(arguments);
  CheckLaunch("EmbeddingForward");
}

}  // namespace

void EmbeddingForward(const EmbeddingForwardArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.width, {arguments.table, arguments.out})) {
      Launch<T, kVectorSize<T>>(arguments, stream);
    } else {
      Launch<T, 1>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
