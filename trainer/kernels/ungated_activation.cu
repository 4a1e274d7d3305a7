#include "trainer/kernels/ungated_activation.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/sigmoid.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;
// The number of vectors per operand that a thread loads before it uses the first. This number keeps
// enough loads in flight to hide memory latency.
constexpr int kThreadVectors = 2;
constexpr int kBlockVectors = kThreads * kThreadVectors;

// A function of one element and its derivative. The code calls fmaf explicitly, because the
// compiler could fuse products and sums differently in each kernel, but recomputation must give the
// same bits.
struct ValueAndSlope {
  float value;
  float slope;
};

// x * Phi(x), where Phi is the normal distribution function.
template <typename T>
struct Gelu {
  __device__ static ValueAndSlope At(float x) {
    constexpr float kInverseRootOfTwo = 0.70710678118654752f;
    constexpr float kInverseRootOfTwoPi = 0.39894228040143268f;
    const float exponent = -0.5f * x * x;
    if constexpr (std::is_same_v<T, float>) {
      const float phi = normcdff(x);  // Accurate in the tails, too.
      return {x * phi, fmaf(x, kInverseRootOfTwoPi * expf(exponent), phi)};
    } else {
      const float phi = 0.5f * (1.0f + erff(x * kInverseRootOfTwo));
      return {x * phi, fmaf(x, kInverseRootOfTwoPi * __expf(exponent), phi)};
    }
  }
};

// 0.5 * x * (1 + tanh(u)) with u = sqrt(2 / pi) * (x + 0.044715 x^3). The factor 0.5 * (1 +
// tanh(u)) is computed as the logistic function of 2 u, which stays precise when tanh(u) is near
// -1.
template <typename T>
struct GeluTanh {
  __device__ static ValueAndSlope At(float x) {
    constexpr float kTwiceRoot = 1.59576912160573071f;  // 2 * sqrt(2 / pi)
    constexpr float kCubic = 0.044715f;
    const float square = x * x;
    const float share = Sigmoid<T>(kTwiceRoot * x * fmaf(kCubic, square, 1.0f));
    const float inner_slope = kTwiceRoot * fmaf(3.0f * kCubic, square, 1.0f);
    return {x * share, fmaf(x * share * (1.0f - share), inner_slope, share)};
  }
};

template <typename T>
struct SquaredRelu {
  __device__ static ValueAndSlope At(float x) {
    const float kept = x < 0.0f ? 0.0f : x;  // Preserves NaN.
    return {kept * kept, 2.0f * kept};
  }
};

// Returns the index of the thread's first vector. The next vectors of the thread follow at
// distances of kThreads.
__device__ __forceinline__ int64_t FirstVector() {
  return static_cast<int64_t>(blockIdx.x) * kBlockVectors + threadIdx.x;
}

// out may share the memory of x, because a thread loads its vectors of x before it stores out.
template <typename T, int kSize, template <typename> typename Function>
__global__ void __launch_bounds__(kThreads) ForwardKernel(const T* x, T* out, int64_t vectors) {
  Vector<T, kSize> loaded[kThreadVectors];
#pragma unroll
  for (int i = 0; i < kThreadVectors; ++i) {
    const int64_t index = FirstVector() + i * kThreads;
    if (index >= vectors) break;
    loaded[i] = LoadVector<kSize>(x + index * kSize);
  }
#pragma unroll
  for (int i = 0; i < kThreadVectors; ++i) {
    const int64_t index = FirstVector() + i * kThreads;
    if (index >= vectors) break;
    float values[kSize];
    ToFloats(loaded[i], values);
#pragma unroll
    for (int e = 0; e < kSize; ++e) values[e] = Function<T>::At(values[e]).value;
    StoreFloats(out + index * kSize, values);
  }
}

// dx may share the memory of dout or x, because a thread loads its vectors of dout and x before it
// stores dx.
template <typename T, int kSize, template <typename> typename Function>
__global__ void __launch_bounds__(kThreads)
    BackwardKernel(UngatedBackwardArguments arguments, int64_t vectors) {
  Vector<T, kSize> douts[kThreadVectors];
  Vector<T, kSize> xs[kThreadVectors];
#pragma unroll
  for (int i = 0; i < kThreadVectors; ++i) {
    const int64_t index = FirstVector() + i * kThreads;
    if (index >= vectors) break;
    douts[i] = LoadVector<kSize>(static_cast<const T*>(arguments.dout) + index * kSize);
    xs[i] = LoadVector<kSize>(static_cast<const T*>(arguments.x) + index * kSize);
  }
#pragma unroll
  for (int i = 0; i < kThreadVectors; ++i) {
    const int64_t index = FirstVector() + i * kThreads;
    if (index >= vectors) break;
    float gradient[kSize];
    float values[kSize];
    ToFloats(douts[i], gradient);
    ToFloats(xs[i], values);
#pragma unroll
    for (int e = 0; e < kSize; ++e) {
      const ValueAndSlope at = Function<T>::At(values[e]);
      gradient[e] *= at.slope;
      values[e] = at.value;
    }
    StoreFloats(static_cast<T*>(arguments.dx) + index * kSize, gradient);
    if (arguments.out == nullptr) continue;
    StoreFloats(static_cast<T*>(arguments.out) + index * kSize, values);
  }
}

unsigned Blocks(int64_t vectors) {
  return static_cast<unsigned>((vectors + kBlockVectors - 1) / kBlockVectors);
}

template <typename T, int kSize, template <typename> typename Function>
struct Launch {
  static void Run(const UngatedForwardArguments& arguments, cudaStream_t stream) {
    const int64_t vectors = arguments.count / kSize;
    ForwardKernel<T, kSize, Function><<<Blocks(vectors), kThreads, 0, stream>>>(
        static_cast<const T*>(arguments.x), static_cast<T*>(arguments.out), vectors);
    CheckLaunch("UngatedForward");
  }

  static void Run(const UngatedBackwardArguments& arguments, cudaStream_t stream) {
    const int64_t vectors = arguments.count / kSize;
    BackwardKernel<T, kSize, Function>
        <<<Blocks(vectors), kThreads, 0, stream>>>(arguments, vectors);
    CheckLaunch("UngatedBackward");
  }
};

template <typename T, int kSize, typename Arguments>
void LaunchActivation(const Arguments& arguments, cudaStream_t stream) {
  switch (arguments.activation) {
    case UngatedActivation::kGelu:
      return Launch<T, kSize, Gelu>::Run(arguments, stream);
    case UngatedActivation::kGeluTanh:
      return Launch<T, kSize, GeluTanh>::Run(arguments, stream);
    case UngatedActivation::kSquaredRelu:
      return Launch<T, kSize, SquaredRelu>::Run(arguments, stream);
  }
}

}  // namespace

void UngatedForward(const UngatedForwardArguments& arguments, cudaStream_t stream) {
  if (arguments.count == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.count, {arguments.x, arguments.out})) {
      LaunchActivation<T, kVectorSize<T>>(arguments, stream);
    } else {
      LaunchActivation<T, 1>(arguments, stream);
    }
  });
}

void UngatedBackward(const UngatedBackwardArguments& arguments, cudaStream_t stream) {
  if (arguments.count == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.count,
                        {arguments.dout, arguments.x, arguments.dx, arguments.out})) {
      LaunchActivation<T, kVectorSize<T>>(arguments, stream);
    } else {
      LaunchActivation<T, 1>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
