#include "trainer/kernels/sum_parts.h"

#include <string>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;

template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    SumPartsKernel(SumPartsArguments arguments, int64_t vectors) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= vectors) return;
  float sum[kSize];
  float values[kSize];
  LoadFloats(static_cast<const T*>(arguments.parts[0]) + index * kSize, sum);
#pragma unroll
  for (int part = 1; part < kMaxSumParts; ++part) {
    if (part >= arguments.count) break;
    LoadFloats(static_cast<const T*>(arguments.parts[part]) + index * kSize, values);
#pragma unroll
    for (int e = 0; e < kSize; ++e) sum[e] += values[e];
  }
  if (arguments.residual != nullptr) {
    LoadFloats(static_cast<const T*>(arguments.residual) + index * kSize, values);
    float rounded[kSize];
    ToFloats(FromFloats<T>(sum), rounded);
#pragma unroll
    for (int e = 0; e < kSize; ++e) sum[e] = rounded[e] + values[e];
  }
  StoreFloats(static_cast<T*>(arguments.sum) + index * kSize, sum);
}

template <typename T, int kSize>
void Launch(const SumPartsArguments& arguments, cudaStream_t stream) {
  const int64_t vectors = arguments.elements / kSize;
  const int64_t blocks = (vectors + kThreads - 1) / kThreads;
  SumPartsKernel<T, kSize>
      <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(arguments, vectors);
  CheckLaunch("SumParts");
}

template <typename T>
bool TakesVectorsOf(const SumPartsArguments& arguments) {
  bool takes_vectors = TakesVectors<T>(arguments.elements, {arguments.residual, arguments.sum});
  for (const void* part : arguments.parts) {
    takes_vectors = takes_vectors && TakesVectors<T>(arguments.elements, {part});
  }
  return takes_vectors;
}

}  // namespace

void SumParts(const SumPartsArguments& arguments, cudaStream_t stream) {
  if (arguments.elements == 0) return;
  if (arguments.count < 1 || arguments.count > kMaxSumParts) {
    throw KernelError("a sum has 1 to " + std::to_string(kMaxSumParts) + " parts");
  }
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectorsOf<T>(arguments)) {
      Launch<T, kVectorSize<T>>(arguments, stream);
    } else {
      Launch<T, 1>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
