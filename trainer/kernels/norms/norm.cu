#include "trainer/kernels/norms/norm.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/row_plan.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

// The number of threads for a row that is too long for registers.
constexpr int kLongRowThreads = 256;

__device__ __forceinline__ float InverseRms(const RmsNormForwardArguments& arguments,
                                            float square_sum) {
  return rsqrtf(square_sum / static_cast<float>(arguments.width) + arguments.epsilon);
}

template <int kSize>
__device__ __forceinline__ float SquareSum(const float (&values)[kSize]) {
  float sum = 0;
#pragma unroll
  for (int e = 0; e < kSize; ++e) sum += values[e] * values[e];
  return sum;
}

template <typename T, int kSize>
__device__ __forceinline__ void StoreNormed(const Vector<T, kSize>& x, float inverse_rms,
                                            const Vector<T, kSize>& weight, T* y) {
  float values[kSize];
  float weights[kSize];
  ToFloats(x, values);
  ToFloats(weight, weights);
#pragma unroll
  for (int e = 0; e < kSize; ++e) values[e] *= inverse_rms * weights[e];
  StoreFloats(y, values);
}

template <typename T, typename Plan>
__global__ void __launch_bounds__(Plan::kBlockThreads)
    RmsNormForwardKernel(RmsNormForwardArguments arguments) {
  constexpr int kSize = kVectorSize<T>;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * Plan::kBlockRows + BlockRow<Plan>();
  if (row >= arguments.rows) return;
  const int64_t offset = row * arguments.width;
  const int row_vectors = static_cast<int>(arguments.width) / kSize;
  const RowPart<T, Plan> x =
      LoadRowPart<Plan>(static_cast<const T*>(arguments.x) + offset, row_vectors);
  const RowPart<T, Plan> weight =
      LoadRowPart<Plan>(static_cast<const T*>(arguments.weight), row_vectors);
  float square_sum = 0;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    float values[kSize];
    ToFloats(x.vectors[i], values);
    square_sum += SquareSum(values);
  }
  const float inverse_rms = InverseRms(arguments, RowSum<Plan>(square_sum));
  if (RowThread<Plan>() == 0) arguments.inverse_rms[row] = inverse_rms;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const int index = RowThread<Plan>() + i * Plan::kThreads;
    if (index >= row_vectors) break;
    StoreNormed(x.vectors[i], inverse_rms, weight.vectors[i],
                static_cast<T*>(arguments.y) + offset + index * kSize);
  }
}

// Each block processes one row and reads it twice.
template <typename T, int kSize>
__global__ void __launch_bounds__(kLongRowThreads)
    RmsNormForwardLongRowKernel(RmsNormForwardArguments arguments) {
  constexpr int kStep = kLongRowThreads * kSize;
  const int64_t row = blockIdx.x;
  const T* x = static_cast<const T*>(arguments.x) + row * arguments.width;
  const T* weight = static_cast<const T*>(arguments.weight);
  T* y = static_cast<T*>(arguments.y) + row * arguments.width;
  float square_sum = 0;
  for (int64_t column = threadIdx.x * kSize; column < arguments.width; column += kStep) {
    float values[kSize];
    LoadFloats(x + column, values);
    square_sum += SquareSum(values);
  }
  const float inverse_rms = InverseRms(arguments, BlockSum<kLongRowThreads>(square_sum));
  if (threadIdx.x == 0) arguments.inverse_rms[row] = inverse_rms;
  for (int64_t column = threadIdx.x * kSize; column < arguments.width; column += kStep) {
    StoreNormed(LoadVector<kSize>(x + column), inverse_rms, LoadVector<kSize>(weight + column),
                y + column);
  }
}

template <typename T, int kSize>
void LaunchLongRows(const RmsNormForwardArguments& arguments, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(arguments.rows);
  RmsNormForwardLongRowKernel<T, kSize><<<blocks, kLongRowThreads, 0, stream>>>(arguments);
  CheckLaunch("RmsNormForward");
}

template <typename T>
void LaunchVectors(const RmsNormForwardArguments& arguments, cudaStream_t stream) {
  const auto launch = [&]<typename Plan>(Plan) {
    const int64_t blocks = (arguments.rows + Plan::kBlockRows - 1) / Plan::kBlockRows;
    RmsNormForwardKernel<T, Plan>
        <<<static_cast<unsigned>(blocks), Plan::kBlockThreads, 0, stream>>>(arguments);
    CheckLaunch("RmsNormForward");
  };
  if (!DispatchRowPlan(arguments.width / kVectorSize<T>, launch)) {
    LaunchLongRows<T, kVectorSize<T>>(arguments, stream);
  }
}

}  // namespace

void RmsNormForward(const RmsNormForwardArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.width, {arguments.x, arguments.weight, arguments.y})) {
      LaunchVectors<T>(arguments, stream);
    } else {
      LaunchLongRows<T, 1>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
