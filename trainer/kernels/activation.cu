#include "trainer/kernels/activation.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/swiglu.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;
// The number of vectors per operand that a thread loads before it uses the first. This number keeps
// enough loads in flight to hide memory latency.
constexpr int kThreadVectors = 2;
constexpr int kBlockVectors = kThreads * kThreadVectors;

// Returns the index of the thread's first vector. The next vectors of the thread follow at
// distances of kThreads.
__device__ __forceinline__ int64_t FirstVector() {
  return static_cast<int64_t>(blockIdx.x) * kBlockVectors + threadIdx.x;
}

template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    SwiGluForwardKernel(const T* packed, T* out, int64_t vectors, int64_t row_vectors) {
  Vector<T, kSize> gates[kThreadVectors];
  Vector<T, kSize> ups[kThreadVectors];
#pragma unroll
  for (int i = 0; i < kThreadVectors; ++i) {
    const int64_t index = FirstVector() + i * kThreads;
    if (index >= vectors) break;
    const T* gate = packed + GateOffset<kSize>(index, row_vectors);
    gates[i] = LoadVector<kSize>(gate);
    ups[i] = LoadVector<kSize>(gate + row_vectors * kSize);
  }
#pragma unroll
  for (int i = 0; i < kThreadVectors; ++i) {
    const int64_t index = FirstVector() + i * kThreads;
    if (index >= vectors) break;
    float gate[kSize];
    float up[kSize];
    ToFloats(gates[i], gate);
    ToFloats(ups[i], up);
#pragma unroll
    for (int e = 0; e < kSize; ++e) up[e] *= gate[e] * Sigmoid<T>(gate[e]);
    StoreFloats(out + index * kSize, up);
  }
}

// d_packed may be the same memory as packed: a thread loads gate and up before it stores their
// gradients, and no other thread reads these gate and up vectors.
template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    SwiGluBackwardKernel(SwiGluBackwardArguments arguments, int64_t vectors, int64_t row_vectors) {
  Vector<T, kSize> douts[kThreadVectors];
  Vector<T, kSize> gates[kThreadVectors];
  Vector<T, kSize> ups[kThreadVectors];
  int64_t gate_offsets[kThreadVectors];
#pragma unroll
  for (int i = 0; i < kThreadVectors; ++i) {
    const int64_t index = FirstVector() + i * kThreads;
    if (index >= vectors) break;
    gate_offsets[i] = GateOffset<kSize>(index, row_vectors);
    const T* gate = static_cast<const T*>(arguments.packed) + gate_offsets[i];
    douts[i] = LoadVector<kSize>(static_cast<const T*>(arguments.dout) + index * kSize);
    gates[i] = LoadVector<kSize>(gate);
    ups[i] = LoadVector<kSize>(gate + row_vectors * kSize);
  }
#pragma unroll
  for (int i = 0; i < kThreadVectors; ++i) {
    const int64_t index = FirstVector() + i * kThreads;
    if (index >= vectors) break;
    float dout[kSize];
    float gate[kSize];
    float up[kSize];
    ToFloats(douts[i], dout);
    ToFloats(gates[i], gate);
    ToFloats(ups[i], up);
    ReplaceByGradients<T>(dout, gate, up);
    T* d_gate = static_cast<T*>(arguments.d_packed) + gate_offsets[i];
    StoreFloats(d_gate, gate);
    StoreFloats(d_gate + row_vectors * kSize, up);
    if (arguments.out != nullptr) StoreFloats(static_cast<T*>(arguments.out) + index * kSize, dout);
  }
}

unsigned Blocks(int64_t vectors) {
  return static_cast<unsigned>((vectors + kBlockVectors - 1) / kBlockVectors);
}

template <typename T, int kSize>
void LaunchForward(const SwiGluForwardArguments& arguments, cudaStream_t stream) {
  const int64_t row_vectors = arguments.width / kSize;
  const int64_t vectors = arguments.rows * row_vectors;
  SwiGluForwardKernel<T, kSize><<<Blocks(vectors), kThreads, 0, stream>>>(
      static_cast<const T*>(arguments.packed), static_cast<T*>(arguments.out), vectors,
      row_vectors);
  CheckLaunch("SwiGluForward");
}

template <typename T, int kSize>
void LaunchBackward(const SwiGluBackwardArguments& arguments, cudaStream_t stream) {
  const int64_t row_vectors = arguments.width / kSize;
  const int64_t vectors = arguments.rows * row_vectors;
  SwiGluBackwardKernel<T, kSize>
      <<<Blocks(vectors), kThreads, 0, stream>>>(arguments, vectors, row_vectors);
  CheckLaunch("SwiGluBackward");
}

}  // namespace

void SwiGluForward(const SwiGluForwardArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.width, {arguments.packed, arguments.out})) {
      LaunchForward<T, kVectorSize<T>>(arguments, stream);
    } else {
      LaunchForward<T, 1>(arguments, stream);
    }
  });
}

void SwiGluBackward(const SwiGluBackwardArguments& arguments, cudaStream_t stream) {
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
