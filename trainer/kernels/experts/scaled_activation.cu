#include "trainer/kernels/experts/scaled_activation.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/swiglu.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

// Each block processes one row. A thread loads this many vectors per operand before it uses the
// first, which keeps enough loads in flight to hide memory latency.
constexpr int kThreadVectors = 2;
// The number of threads in a block, for rows with few vectors and for rows with many.
constexpr int kShortRowThreads = 64;
constexpr int kLongRowThreads = 128;
constexpr int64_t kShortRowVectors = 256;

template <typename T, int kSize, int kThreads>
__global__ void __launch_bounds__(kThreads)
    ScaledForwardKernel(ScaledSwiGluForwardArguments arguments, int row_vectors) {
  const int64_t row = blockIdx.x;
  const T* gates = static_cast<const T*>(arguments.packed) + 2 * row * arguments.width;
  T* out = static_cast<T*>(arguments.out) + row * arguments.width;
  const float scale = arguments.scales[row];
  for (int first = threadIdx.x; first < row_vectors; first += kThreadVectors * kThreads) {
    Vector<T, kSize> loaded[kThreadVectors][2];
#pragma unroll
    for (int i = 0; i < kThreadVectors; ++i) {
      const int index = first + i * kThreads;
      if (index >= row_vectors) break;
      loaded[i][0] = LoadVector<kSize>(gates + index * kSize);
      loaded[i][1] = LoadVector<kSize>(gates + arguments.width + index * kSize);
    }
#pragma unroll
    for (int i = 0; i < kThreadVectors; ++i) {
      const int index = first + i * kThreads;
      if (index >= row_vectors) break;
      float gate[kSize];
      float up[kSize];
      ToFloats(loaded[i][0], gate);
      ToFloats(loaded[i][1], up);
#pragma unroll
      for (int e = 0; e < kSize; ++e) up[e] = scale * (gate[e] * Sigmoid<T>(gate[e]) * up[e]);
      StoreFloats(out + index * kSize, up);
    }
  }
}

// d_packed may be the same memory as packed: a thread loads gate and up before it stores their
// gradients, and no other thread reads these gate and up vectors.
template <typename T, int kSize, int kThreads>
__global__ void __launch_bounds__(kThreads)
    ScaledBackwardKernel(ScaledSwiGluBackwardArguments arguments, int row_vectors) {
  const int64_t row = blockIdx.x;
  const T* douts = static_cast<const T*>(arguments.dout) + row * arguments.width;
  const T* gates = static_cast<const T*>(arguments.packed) + 2 * row * arguments.width;
  T* d_gates = static_cast<T*>(arguments.d_packed) + 2 * row * arguments.width;
  const float scale = arguments.scales[row];
  float d_scale = 0;
  for (int first = threadIdx.x; first < row_vectors; first += kThreadVectors * kThreads) {
    Vector<T, kSize> loaded[kThreadVectors][3];
#pragma unroll
    for (int i = 0; i < kThreadVectors; ++i) {
      const int index = first + i * kThreads;
      if (index >= row_vectors) break;
      loaded[i][0] = LoadVector<kSize>(douts + index * kSize);
      loaded[i][1] = LoadVector<kSize>(gates + index * kSize);
      loaded[i][2] = LoadVector<kSize>(gates + arguments.width + index * kSize);
    }
#pragma unroll
    for (int i = 0; i < kThreadVectors; ++i) {
      const int index = first + i * kThreads;
      if (index >= row_vectors) break;
      float dout[kSize];
      float result[kSize];  // First the gradient of the unscaled result, then this result.
      float gate[kSize];
      float up[kSize];
      ToFloats(loaded[i][0], dout);
      ToFloats(loaded[i][1], gate);
      ToFloats(loaded[i][2], up);
#pragma unroll
      for (int e = 0; e < kSize; ++e) result[e] = scale * dout[e];
      ReplaceByGradients<T>(result, gate, up);
#pragma unroll
      for (int e = 0; e < kSize; ++e) {
        d_scale += dout[e] * result[e];
        result[e] *= scale;
      }
      StoreFloats(d_gates + index * kSize, gate);
      StoreFloats(d_gates + arguments.width + index * kSize, up);
      if (arguments.out != nullptr) {
        StoreFloats(static_cast<T*>(arguments.out) + row * arguments.width + index * kSize, result);
      }
    }
  }
  d_scale = BlockSum<kThreads>(d_scale);
  if (threadIdx.x == 0) arguments.d_scales[row] = d_scale;
}

template <typename T, int kSize>
void LaunchForward(const ScaledSwiGluForwardArguments& arguments, cudaStream_t stream) {
  const int64_t row_vectors = arguments.width / kSize;
  const auto rows = static_cast<unsigned>(arguments.rows);
  if (row_vectors <= kShortRowVectors) {
    ScaledForwardKernel<T, kSize, kShortRowThreads>
        <<<rows, kShortRowThreads, 0, stream>>>(arguments, static_cast<int>(row_vectors));
  } else {
    ScaledForwardKernel<T, kSize, kLongRowThreads>
        <<<rows, kLongRowThreads, 0, stream>>>(arguments, static_cast<int>(row_vectors));
  }
  CheckLaunch("ScaledSwiGluForward");
}

template <typename T, int kSize>
void LaunchBackward(const ScaledSwiGluBackwardArguments& arguments, cudaStream_t stream) {
  const int64_t row_vectors = arguments.width / kSize;
  const auto rows = static_cast<unsigned>(arguments.rows);
  if (row_vectors <= kShortRowVectors) {
    ScaledBackwardKernel<T, kSize, kShortRowThreads>
        <<<rows, kShortRowThreads, 0, stream>>>(arguments, static_cast<int>(row_vectors));
  } else {
    ScaledBackwardKernel<T, kSize, kLongRowThreads>
        <<<rows, kLongRowThreads, 0, stream>>>(arguments, static_cast<int>(row_vectors));
  }
  CheckLaunch("ScaledSwiGluBackward");
}

}  // namespace

void ScaledSwiGluForward(const ScaledSwiGluForwardArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.width, {arguments.packed, arguments.out})) {
      LaunchForward<T, kVectorSize<T>>(arguments, stream);
    } else {
      LaunchForward<T, 1>(arguments, stream);
    }
  });
}

void ScaledSwiGluBackward(const ScaledSwiGluBackwardArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.width,
                        {arguments.dout, arguments.packed, arguments.d_packed, arguments.out})) {
      LaunchBackward<T, kVectorSize<T>>(arguments, stream);
    } else {
      LaunchBackward<T, 1>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
