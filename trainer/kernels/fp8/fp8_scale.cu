#include "trainer/kernels/fp8/fp8_scale.h"

#include <algorithm>
#include <cfloat>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/fp8/fp8_amax.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;
// The number of vectors that a thread loads before it uses the first. This number keeps enough
// loads in flight to hide memory latency.
constexpr int kThreadVectors = 4;
// An H200 runs this number of blocks concurrently: 8 on each of its multiprocessors.
constexpr int64_t kMaxBlocks = 1056;

template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    RaiseAmaxKernel(const T* x, int64_t count, float* amax) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * kThreads;
  const int64_t vectors = count / kSize;
  uint32_t largest = 0;
  for (int64_t first = thread; first < vectors; first += kThreadVectors * threads) {
    float values[kThreadVectors][kSize] = {};
#pragma unroll
    for (int k = 0; k < kThreadVectors; ++k) {
      const int64_t index = first + k * threads;
      if (index < vectors) LoadFloats(x + index * kSize, values[k]);
    }
#pragma unroll
    for (int k = 0; k < kThreadVectors; ++k) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) largest = max(largest, MagnitudeBits(values[k][i]));
    }
  }
  const int64_t last = vectors * kSize + thread;  // The elements after the last whole vector.
  if (last < count) largest = max(largest, MagnitudeBits(static_cast<float>(x[last])));
  RaiseAmaxByBlock<kThreads>(largest, amax);
}

__global__ void __launch_bounds__(kThreads) UpdateScalesKernel(Fp8ScaleArguments arguments) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= arguments.count) return;
  const float amax = arguments.amax[i];
  // False for NaN.
  if (amax > 0 && amax <= FLT_MAX) arguments.scale[i] = fminf(arguments.largest / amax, FLT_MAX);
}

template <typename T, int kSize>
void LaunchRaiseAmax(const RaiseAmaxArguments& arguments, cudaStream_t stream) {
  constexpr int64_t kBlockElements = kThreads * kThreadVectors * kSize;
  const int64_t blocks =
      std::min((arguments.count + kBlockElements - 1) / kBlockElements, kMaxBlocks);
  RaiseAmaxKernel<T, kSize><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      static_cast<const T*>(arguments.x), arguments.count, arguments.amax);
  CheckLaunch("RaiseAmax");
}

}  // namespace

void RaiseAmax(const RaiseAmaxArguments& arguments, cudaStream_t stream) {
  if (arguments.count == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(0, {arguments.x})) {
      LaunchRaiseAmax<T, kVectorSize<T>>(arguments, stream);
    } else {
      LaunchRaiseAmax<T, 1>(arguments, stream);
    }
  });
}

void UpdateFp8Scales(const Fp8ScaleArguments& arguments, cudaStream_t stream) {
  if (arguments.count == 0) return;
  const auto blocks = static_cast<unsigned>((arguments.count + kThreads - 1) / kThreads);
  UpdateScalesKernel<<<blocks, kThreads, 0, stream>>>(arguments);
  CheckLaunch("UpdateFp8Scales");
}

}  // namespace trainyard::trainer::kernels
