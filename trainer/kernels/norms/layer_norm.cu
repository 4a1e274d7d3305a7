#include "trainer/kernels/norms/layer_norm.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/row_plan.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

// The number of threads for a row that is too long for registers.
constexpr int kLongRowThreads = 256;

struct Statistics {
  float mean;
  float inverse_std;
};

__device__ __forceinline__ float InverseStd(const LayerNormForwardArguments& arguments,
                                            float square_sum) {
  return rsqrtf(square_sum / static_cast<float>(arguments.width) + arguments.epsilon);
}

__device__ __forceinline__ void StoreStatistics(const LayerNormForwardArguments& arguments,
                                                int64_t row, const Statistics& of_row) {
  arguments.mean[row] = of_row.mean;
  arguments.inverse_std[row] = of_row.inverse_std;
}

template <int kSize>
__device__ __forceinline__ float Sum(const float (&values)[kSize]) {
  float sum = 0;
#pragma unroll
  for (int e = 0; e < kSize; ++e) sum += values[e];
  return sum;
}

template <int kSize>
__device__ __forceinline__ float SquareSum(const float (&values)[kSize], float mean) {
  float sum = 0;
#pragma unroll
  for (int e = 0; e < kSize; ++e) sum += (values[e] - mean) * (values[e] - mean);
  return sum;
}

// `weight` and `bias` point to the values for the vector's columns, or are null.
template <typename T, int kSize>
__device__ __forceinline__ void StoreNormed(const Vector<T, kSize>& x, const Statistics& of_row,
                                            const T* weight, const T* bias, T* y) {
  float values[kSize];
  ToFloats(x, values);
#pragma unroll
  for (int e = 0; e < kSize; ++e) values[e] = (values[e] - of_row.mean) * of_row.inverse_std;
  float operand[kSize];
  if (weight != nullptr) {
    LoadFloats(weight, operand);
#pragma unroll
    for (int e = 0; e < kSize; ++e) values[e] *= operand[e];
  }
  if (bias != nullptr) {
    LoadFloats(bias, operand);
#pragma unroll
    for (int e = 0; e < kSize; ++e) values[e] += operand[e];
  }
  StoreFloats(y, values);
}

// Returns a pointer to a vector's elements from a column on; null if the vector is null.
template <typename T>
__device__ __forceinline__ const T* From(const void* vector, int64_t column) {
  return vector == nullptr ? nullptr : static_cast<const T*>(vector) + column;
}

// Computes the variance from the differences to the mean. The row is in registers, so it need not
// be loaded again.
template <typename T, typename Plan>
__device__ __forceinline__ Statistics StatisticsOf(const LayerNormForwardArguments& arguments,
                                                   const RowPart<T, Plan>& x, int row_vectors) {
  constexpr int kSize = kVectorSize<T>;
  float values[kSize];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    ToFloats(x.vectors[i], values);
    sum += Sum(values);
  }
  const float mean = RowSum<Plan>(sum) / static_cast<float>(arguments.width);
  float square_sum = 0;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    if (RowThread<Plan>() + i * Plan::kThreads >= row_vectors) break;
    ToFloats(x.vectors[i], values);
    square_sum += SquareSum(values, mean);
  }
  return {mean, InverseStd(arguments, RowSum<Plan>(square_sum))};
}

template <typename T, typename Plan>
__global__ void __launch_bounds__(Plan::kBlockThreads)
    LayerNormForwardKernel(LayerNormForwardArguments arguments) {
  constexpr int kSize = kVectorSize<T>;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * Plan::kBlockRows + BlockRow<Plan>();
  if (row >= arguments.rows) return;
  const int64_t offset = row * arguments.width;
  const int row_vectors = static_cast<int>(arguments.width) / kSize;
  const RowPart<T, Plan> x =
      LoadRowPart<Plan>(static_cast<const T*>(arguments.x) + offset, row_vectors);
  const Statistics of_row = StatisticsOf<T, Plan>(arguments, x, row_vectors);
  if (RowThread<Plan>() == 0) StoreStatistics(arguments, row, of_row);
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const int index = RowThread<Plan>() + i * Plan::kThreads;
    if (index >= row_vectors) break;
    const int column = index * kSize;
    StoreNormed(x.vectors[i], of_row, From<T>(arguments.weight, column),
                From<T>(arguments.bias, column), static_cast<T*>(arguments.y) + offset + column);
  }
}

// Each block processes one row and reads it three times.
template <typename T, int kSize>
__global__ void __launch_bounds__(kLongRowThreads)
    LayerNormForwardLongRowKernel(LayerNormForwardArguments arguments) {
  constexpr int kStep = kLongRowThreads * kSize;
  const int64_t row = blockIdx.x;
  const T* x = static_cast<const T*>(arguments.x) + row * arguments.width;
  T* y = static_cast<T*>(arguments.y) + row * arguments.width;
  float values[kSize];
  float sum = 0;
  for (int64_t column = threadIdx.x * kSize; column < arguments.width; column += kStep) {
    LoadFloats(x + column, values);
    sum += Sum(values);
  }
  const float mean = BlockSum<kLongRowThreads>(sum) / static_cast<float>(arguments.width);
  float square_sum = 0;
  for (int64_t column = threadIdx.x * kSize; column < arguments.width; column += kStep) {
    LoadFloats(x + column, values);
    square_sum += SquareSum(values, mean);
  }
  const Statistics of_row = {mean, InverseStd(arguments, BlockSum<kLongRowThreads>(square_sum))};
  if (threadIdx.x == 0) StoreStatistics(arguments, row, of_row);
  for (int64_t column = threadIdx.x * kSize; column < arguments.width; column += kStep) {
    StoreNormed(LoadVector<kSize>(x + column), of_row, From<T>(arguments.weight, column),
                From<T>(arguments.bias, column), y + column);
  }
}

template <typename T, int kSize>
void LaunchLongRows(const LayerNormForwardArguments& arguments, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(arguments.rows);
  LayerNormForwardLongRowKernel<T, kSize><<<blocks, kLongRowThreads, 0, stream>>>(arguments);
  CheckLaunch("LayerNormForward");
}

template <typename T>
void LaunchVectors(const LayerNormForwardArguments& arguments, cudaStream_t stream) {
  const auto launch = [&]<typename Plan>(Plan) {
    const int64_t blocks = (arguments.rows + Plan::kBlockRows - 1) / Plan::kBlockRows;
    LayerNormForwardKernel<T, Plan>
        <<<static_cast<unsigned>(blocks), Plan::kBlockThreads, 0, stream>>>(arguments);
    CheckLaunch("LayerNormForward");
  };
  if (!DispatchRowPlan(arguments.width / kVectorSize<T>, launch)) {
    LaunchLongRows<T, kVectorSize<T>>(arguments, stream);
  }
}

}  // namespace

void LayerNormForward(const LayerNormForwardArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.width,
                        {arguments.x, arguments.weight, arguments.bias, arguments.y})) {
      LaunchVectors<T>(arguments, stream);
    } else {
      LaunchLongRows<T, 1>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
