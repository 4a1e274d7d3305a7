#include <algorithm>

#include "trainer/kernels/column_sums.cuh"
#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/norms/norm.h"
#include "trainer/kernels/norms/norm_gradient.cuh"
#include "trainer/kernels/partial_sums.h"
#include "trainer/kernels/row_plan.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

// The maximum number of blocks in any grid below. Each block writes one row of partial sums to the
// workspace.
constexpr int64_t kMaxBlocks = 3 * kMultiprocessors;

// The number of threads for a row that is too long for registers.
constexpr int kLongRowThreads = 256;

// The number of blocks that a multiprocessor runs concurrently. This number leaves each thread
// enough registers for its column sums and four rows of operands.
template <typename Plan>
constexpr int ResidentBlocks() {
  if (Plan::kVectors > 4) return 256 / Plan::kBlockThreads;
  return Plan::kThreads == kWarpSize ? 2 : 3;
}

// A thread's vectors of one row. The weight is loaded from the cache again for each row: the
// compiler would keep a weight in registers as fp32, for which there are too few registers.
template <typename T, typename Plan>
struct RowOperands {
  RowPart<T, Plan> dy;
  RowPart<T, Plan> x;
  RowPart<T, Plan> residual;
  RowPart<T, Plan> weight;
};

template <typename T, typename Plan>
__device__ __forceinline__ RowOperands<T, Plan> LoadRow(const RmsNormBackwardArguments& arguments,
                                                        int64_t row, int row_vectors) {
  const int64_t offset = row * arguments.width;
  const T* residual = static_cast<const T*>(arguments.residual_gradient);
  if (residual != nullptr) residual += offset;
  RowOperands<T, Plan> operands;
  operands.dy = LoadRowPart<Plan>(static_cast<const T*>(arguments.dy) + offset, row_vectors);
  operands.x = LoadRowPart<Plan>(static_cast<const T*>(arguments.x) + offset, row_vectors);
  operands.residual = LoadRowPart<Plan>(residual, residual == nullptr ? 0 : row_vectors);
  operands.weight = LoadRowPart<Plan>(static_cast<const T*>(arguments.weight), row_vectors);
  return operands;
}

// Writes dx of one row and adds dy * n to the sums.
template <typename T, typename Plan>
__device__ __forceinline__ void DifferentiateRow(const RmsNormBackwardArguments& arguments,
                                                 int64_t row, ColumnSums<T, Plan>& sums) {
  constexpr int kSize = kVectorSize<T>;
  const int row_vectors = static_cast<int>(arguments.width) / kSize;
  const RowOperands<T, Plan> rows = LoadRow<T, Plan>(arguments, row, row_vectors);
  const float inverse_rms = arguments.inverse_rms[row];
  float dot = 0;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const auto operands = ToOperands(rows.dy.vectors[i], rows.x.vectors[i], rows.weight.vectors[i]);
    dot += Dot(operands);
    AddColumns(operands, inverse_rms, sums[i]);
  }
  const float mean = RowSum<Plan>(dot) * inverse_rms / static_cast<float>(arguments.width);
  T* dx = static_cast<T*>(arguments.dx) + row * arguments.width;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const int index = RowThread<Plan>() + i * Plan::kThreads;
    if (index >= row_vectors) break;
    float result[kSize];
    ToFloats(rows.residual.vectors[i], result);
    AddDx(ToOperands(rows.dy.vectors[i], rows.x.vectors[i], rows.weight.vectors[i]), inverse_rms,
          mean, result);
    StoreFloats(dx + index * kSize, result);
  }
}

// dx may be the same memory as dy or the residual gradient: a thread loads its part of a row before
// it stores that part, and no other thread reads that part.
template <typename T, typename Plan>
__global__ void __launch_bounds__(Plan::kBlockThreads, ResidentBlocks<Plan>())
    RmsNormBackwardKernel(RmsNormBackwardArguments arguments) {
  const int row_vectors = static_cast<int>(arguments.width) / kVectorSize<T>;
  ColumnSums<T, Plan> sums = {};
  const int64_t step = static_cast<int64_t>(gridDim.x) * Plan::kBlockRows;
  int64_t row = static_cast<int64_t>(blockIdx.x) * Plan::kBlockRows + BlockRow<Plan>();
  for (; row < arguments.rows; row += step) {
    DifferentiateRow<T, Plan>(arguments, row, sums);
  }
  if constexpr (Plan::kBlockRows > 1) AddBlockRows<T, Plan>(sums);
  if (BlockRow<Plan>() != Plan::kBlockRows - 1) return;
  StoreColumns<T, Plan>(sums, row_vectors, arguments.workspace + blockIdx.x * arguments.width);
}

// Returns the sum of dy * weight * x over a row. Every thread of the block gets the same value.
template <typename T, int kSize>
__device__ __forceinline__ float LongRowDot(const RmsNormBackwardArguments& arguments,
                                            int64_t row) {
  const T* dy = static_cast<const T*>(arguments.dy) + row * arguments.width;
  const T* x = static_cast<const T*>(arguments.x) + row * arguments.width;
  const T* weight = static_cast<const T*>(arguments.weight);
  float dot = 0;
  for (int64_t column = threadIdx.x * kSize; column < arguments.width;
       column += kLongRowThreads * kSize) {
    dot += Dot(ToOperands(LoadVector<kSize>(dy + column), LoadVector<kSize>(x + column),
                          LoadVector<kSize>(weight + column)));
  }
  return BlockSum<kLongRowThreads>(dot);
}

// Writes dx of one row. The block's first row sets the block's partial sums of dy * n; later rows
// are added to these sums.
template <typename T, int kSize>
__device__ __forceinline__ void DifferentiateLongRow(const RmsNormBackwardArguments& arguments,
                                                     int64_t row, float* partial, bool first_row) {
  const float inverse_rms = arguments.inverse_rms[row];
  const float mean =
      LongRowDot<T, kSize>(arguments, row) * inverse_rms / static_cast<float>(arguments.width);
  const T* residual = static_cast<const T*>(arguments.residual_gradient);
  for (int64_t column = threadIdx.x * kSize; column < arguments.width;
       column += kLongRowThreads * kSize) {
    const int64_t offset = row * arguments.width + column;
    const auto operands =
        ToOperands(LoadVector<kSize>(static_cast<const T*>(arguments.dy) + offset),
                   LoadVector<kSize>(static_cast<const T*>(arguments.x) + offset),
                   LoadVector<kSize>(static_cast<const T*>(arguments.weight) + column));
    float result[kSize] = {};
    float sums[kSize] = {};
    if (residual != nullptr) LoadFloats(residual + offset, result);
    AddDx(operands, inverse_rms, mean, result);
    AddColumns(operands, inverse_rms, sums);
    StoreFloats(static_cast<T*>(arguments.dx) + offset, result);
#pragma unroll
    for (int e = 0; e < kSize; ++e) {
      partial[column + e] = first_row ? sums[e] : partial[column + e] + sums[e];
    }
  }
}

// Supports rows of any width. A block reads each of its rows twice and keeps its sums in the
// workspace.
template <typename T, int kSize>
__global__ void __launch_bounds__(kLongRowThreads)
    RmsNormBackwardLongRowKernel(RmsNormBackwardArguments arguments) {
  float* partial = arguments.workspace + blockIdx.x * arguments.width;
  for (int64_t row = blockIdx.x; row < arguments.rows; row += gridDim.x) {
    DifferentiateLongRow<T, kSize>(arguments, row, partial, row == blockIdx.x);
  }
}

// Each launch function below returns the number of blocks, which equals the number of rows of
// partial sums.

template <typename T, int kSize>
int64_t LaunchLongRows(const RmsNormBackwardArguments& arguments, cudaStream_t stream) {
  const int64_t blocks = std::min(arguments.rows, kMaxBlocks);
  RmsNormBackwardLongRowKernel<T, kSize>
      <<<static_cast<unsigned>(blocks), kLongRowThreads, 0, stream>>>(arguments);
  CheckLaunch("RmsNormBackward");
  return blocks;
}

template <typename T>
int64_t LaunchVectors(const RmsNormBackwardArguments& arguments, cudaStream_t stream) {
  int64_t blocks = 0;
  const auto launch = [&]<typename Plan>(Plan) {
    static_assert(kMultiprocessors * ResidentBlocks<Plan>() <= kMaxBlocks);
    const int64_t row_blocks = (arguments.rows + Plan::kBlockRows - 1) / Plan::kBlockRows;
    blocks = std::min<int64_t>(row_blocks, kMultiprocessors * ResidentBlocks<Plan>());
    RmsNormBackwardKernel<T, Plan>
        <<<static_cast<unsigned>(blocks), Plan::kBlockThreads, 0, stream>>>(arguments);
    CheckLaunch("RmsNormBackward");
  };
  if (DispatchRowPlan(arguments.width / kVectorSize<T>, launch)) return blocks;
  return LaunchLongRows<T, kVectorSize<T>>(arguments, stream);
}

template <typename T>
int64_t LaunchRows(const RmsNormBackwardArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return 0;
  const bool vectors =
      TakesVectors<T>(arguments.width, {arguments.dy, arguments.x, arguments.weight,
                                        arguments.residual_gradient, arguments.dx}) &&
      TakesVectors<float>(arguments.width, {arguments.workspace});
  return vectors ? LaunchVectors<T>(arguments, stream) : LaunchLongRows<T, 1>(arguments, stream);
}

}  // namespace

int64_t RmsNormBackwardWorkspaceFloats(int64_t rows, int64_t width) {
  return std::min(rows, kMaxBlocks) * width;
}

void RmsNormBackward(const RmsNormBackwardArguments& arguments, cudaStream_t stream) {
  int64_t partial_rows = 0;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    partial_rows = LaunchRows<T>(arguments, stream);
  });
  AddPartialSums({.partial = arguments.workspace,
                  .sum = arguments.weight_gradient,
                  .count = partial_rows,
                  .stride = arguments.width,
                  .width = arguments.width,
                  .accumulate = arguments.accumulate},
                 stream);
}

}  // namespace trainyard::trainer::kernels
