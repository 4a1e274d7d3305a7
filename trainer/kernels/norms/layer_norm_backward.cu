#include <algorithm>

#include "trainer/kernels/column_sums.cuh"
#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/norms/layer_norm.h"
#include "trainer/kernels/partial_sums.h"
#include "trainer/kernels/row_plan.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

// The number of threads for a row that is too long for registers.
constexpr int kLongRowThreads = 256;

// The number of blocks that a multiprocessor runs concurrently. This number leaves each thread
// enough registers for two sums per column and four rows of operands.
template <typename Plan>
constexpr int ResidentBlocks() {
  if (Plan::kVectors > 2) return 256 / Plan::kBlockThreads;
  return Plan::kThreads == kWarpSize ? 2 : 4;
}

// The maximum number of blocks in any grid below. Each block writes one row of partial sums to the
// workspace.
constexpr int64_t kMaxBlocks = 4 * kMultiprocessors;

// Calls function(Plan{}) with the smallest plan that fits. If no plan fits, returns false without
// calling `function`. There are no plans for longer rows, because these would leave too few
// registers for the sums.
template <typename Function>
bool DispatchBackwardPlan(int64_t vectors, Function&& function) {
  return DispatchPlans<RowPlan<32, 1>, RowPlan<32, 2>, RowPlan<32, 3>, RowPlan<32, 4>,
                       RowPlan<128, 2>, RowPlan<128, 3>, RowPlan<128, 4>, RowPlan<256, 4>>(
      vectors, function);
}

// The terms of the gradient of one vector, in fp32.
template <int kSize>
struct Terms {
  float dy[kSize];
  float normal[kSize];  // n in layer_norm.h.
  float inner[kSize];   // g in layer_norm.h.
};

// The mean and 1 / std of a row, and the row's means of g and of g * n.
struct RowMeans {
  float mean;
  float inverse_std;
  float inner = 0;
  float inner_normal = 0;
};

__device__ __forceinline__ RowMeans MeansOf(const LayerNormBackwardArguments& arguments,
                                            int64_t row) {
  return {arguments.mean[row], arguments.inverse_std[row]};
}

// `weight` points to the values for the vector's columns. It is read only if the norm has weights.
template <typename T, int kSize>
__device__ __forceinline__ Terms<kSize> TermsOf(const Vector<T, kSize>& dy,
                                                const Vector<T, kSize>& x,
                                                const Vector<T, kSize>& weight, bool has_weight,
                                                const RowMeans& row) {
  Terms<kSize> terms;
  float weights[kSize];
  ToFloats(dy, terms.dy);
  ToFloats(x, terms.normal);
  ToFloats(weight, weights);
#pragma unroll
  for (int e = 0; e < kSize; ++e) {
    terms.normal[e] = (terms.normal[e] - row.mean) * row.inverse_std;
    terms.inner[e] = has_weight ? terms.dy[e] * weights[e] : terms.dy[e];
  }
  return terms;
}

// Adds the contribution of the vector to the sums over the row.
template <int kSize>
__device__ __forceinline__ void AddToRow(const Terms<kSize>& terms, float& inner,
                                         float& inner_normal) {
#pragma unroll
  for (int e = 0; e < kSize; ++e) {
    inner += terms.inner[e];
    inner_normal += terms.inner[e] * terms.normal[e];
  }
}

// `result` contains the residual gradient at first, and dx on return.
template <int kSize>
__device__ __forceinline__ void AddDx(const Terms<kSize>& terms, const RowMeans& row,
                                      float (&result)[kSize]) {
#pragma unroll
  for (int e = 0; e < kSize; ++e) {
    result[e] +=
        (terms.inner[e] - row.inner - terms.normal[e] * row.inner_normal) * row.inverse_std;
  }
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
__device__ __forceinline__ RowOperands<T, Plan> LoadRow(const LayerNormBackwardArguments& arguments,
                                                        int64_t row, int row_vectors) {
  const int64_t offset = row * arguments.width;
  const T* residual = static_cast<const T*>(arguments.residual_gradient);
  const T* weight = static_cast<const T*>(arguments.weight);
  if (residual != nullptr) residual += offset;
  RowOperands<T, Plan> operands;
  operands.dy = LoadRowPart<Plan>(static_cast<const T*>(arguments.dy) + offset, row_vectors);
  operands.x = LoadRowPart<Plan>(static_cast<const T*>(arguments.x) + offset, row_vectors);
  operands.residual = LoadRowPart<Plan>(residual, residual == nullptr ? 0 : row_vectors);
  operands.weight = LoadRowPart<Plan>(weight, weight == nullptr ? 0 : row_vectors);
  return operands;
}

// The sums of dy * n and of dy over the thread's rows.
template <typename T, typename Plan>
struct GradientSums {
  ColumnSums<T, Plan> weight = {};
  ColumnSums<T, Plan> bias = {};
};

template <typename T, typename Plan>
__device__ __forceinline__ void AddToSums(const Terms<kVectorSize<T>>& terms, int vector,
                                          GradientSums<T, Plan>& sums) {
#pragma unroll
  for (int e = 0; e < kVectorSize<T>; ++e) {
    sums.weight[vector][e] += terms.dy[e] * terms.normal[e];
    sums.bias[vector][e] += terms.dy[e];
  }
}

// Writes dx of one row. If kSums is true, adds the row to the sums.
template <typename T, typename Plan, bool kSums>
__device__ __forceinline__ void DifferentiateRow(const LayerNormBackwardArguments& arguments,
                                                 int64_t row, GradientSums<T, Plan>& sums) {
  constexpr int kSize = kVectorSize<T>;
  const int row_vectors = static_cast<int>(arguments.width) / kSize;
  const bool has_weight = arguments.weight != nullptr;
  const RowOperands<T, Plan> rows = LoadRow<T, Plan>(arguments, row, row_vectors);
  RowMeans means = MeansOf(arguments, row);
  float inner = 0, inner_normal = 0;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    // After the end of the row, dy and all its products are 0.
    const auto terms =
        TermsOf(rows.dy.vectors[i], rows.x.vectors[i], rows.weight.vectors[i], has_weight, means);
    AddToRow(terms, inner, inner_normal);
    if constexpr (kSums) AddToSums<T, Plan>(terms, i, sums);
  }
  const float width = static_cast<float>(arguments.width);
  means.inner = RowSum<Plan>(inner) / width;
  means.inner_normal = RowSum<Plan>(inner_normal) / width;
  T* dx = static_cast<T*>(arguments.dx) + row * arguments.width;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const int index = RowThread<Plan>() + i * Plan::kThreads;
    if (index >= row_vectors) break;
    float result[kSize];
    ToFloats(rows.residual.vectors[i], result);
    AddDx(TermsOf(rows.dy.vectors[i], rows.x.vectors[i], rows.weight.vectors[i], has_weight, means),
          means, result);
    StoreFloats(dx + index * kSize, result);
  }
}

// Returns the block's partial sums: first of the weight's gradient, then of the bias gradient.
__device__ __forceinline__ float* PartialsOf(const LayerNormBackwardArguments& arguments) {
  return arguments.workspace + blockIdx.x * 2 * arguments.width;
}

// dx may be the same memory as dy or the residual gradient: a thread loads its part of a row before
// it stores that part, and no other thread reads that part.
template <typename T, typename Plan, bool kSums>
__global__ void __launch_bounds__(Plan::kBlockThreads, ResidentBlocks<Plan>())
    LayerNormBackwardKernel(LayerNormBackwardArguments arguments) {
  const int row_vectors = static_cast<int>(arguments.width) / kVectorSize<T>;
  GradientSums<T, Plan> sums;
  const int64_t step = static_cast<int64_t>(gridDim.x) * Plan::kBlockRows;
  int64_t row = static_cast<int64_t>(blockIdx.x) * Plan::kBlockRows + BlockRow<Plan>();
  for (; row < arguments.rows; row += step) {
    DifferentiateRow<T, Plan, kSums>(arguments, row, sums);
  }
  if constexpr (kSums) {
    if constexpr (Plan::kBlockRows > 1) {
      AddBlockRows<T, Plan>(sums.weight);
      AddBlockRows<T, Plan>(sums.bias);
    }
    if (BlockRow<Plan>() != Plan::kBlockRows - 1) return;
    StoreColumns<T, Plan>(sums.weight, row_vectors, PartialsOf(arguments));
    StoreColumns<T, Plan>(sums.bias, row_vectors, PartialsOf(arguments) + arguments.width);
  }
}

// Returns the terms for the vector at a column of a row.
template <typename T, int kSize>
__device__ __forceinline__ Terms<kSize> LoadTerms(const LayerNormBackwardArguments& arguments,
                                                  int64_t row, int64_t column,
                                                  const RowMeans& means) {
  const int64_t offset = row * arguments.width + column;
  const T* weight = static_cast<const T*>(arguments.weight);
  const bool has_weight = weight != nullptr;
  return TermsOf(LoadVector<kSize>(static_cast<const T*>(arguments.dy) + offset),
                 LoadVector<kSize>(static_cast<const T*>(arguments.x) + offset),
                 has_weight ? LoadVector<kSize>(weight + column) : Vector<T, kSize>{}, has_weight,
                 means);
}

template <typename T, int kSize>
__device__ __forceinline__ RowMeans LongRowMeans(const LayerNormBackwardArguments& arguments,
                                                 int64_t row) {
  RowMeans means = MeansOf(arguments, row);
  float inner = 0, inner_normal = 0;
  for (int64_t column = threadIdx.x * kSize; column < arguments.width;
       column += kLongRowThreads * kSize) {
    AddToRow(LoadTerms<T, kSize>(arguments, row, column, means), inner, inner_normal);
  }
  const float width = static_cast<float>(arguments.width);
  means.inner = BlockSum<kLongRowThreads>(inner) / width;
  means.inner_normal = BlockSum<kLongRowThreads>(inner_normal) / width;
  return means;
}

// Writes dx of one row. The block's first row sets the block's partial sums; later rows are added
// to these sums.
template <typename T, int kSize>
__device__ __forceinline__ void DifferentiateLongRow(const LayerNormBackwardArguments& arguments,
                                                     int64_t row, float* partial, bool first_row) {
  const RowMeans means = LongRowMeans<T, kSize>(arguments, row);
  const T* residual = static_cast<const T*>(arguments.residual_gradient);
  for (int64_t column = threadIdx.x * kSize; column < arguments.width;
       column += kLongRowThreads * kSize) {
    const int64_t offset = row * arguments.width + column;
    const auto terms = LoadTerms<T, kSize>(arguments, row, column, means);
    float result[kSize] = {};
    if (residual != nullptr) LoadFloats(residual + offset, result);
    AddDx(terms, means, result);
    StoreFloats(static_cast<T*>(arguments.dx) + offset, result);
    if (partial == nullptr) continue;
    float* bias = partial + arguments.width;
#pragma unroll
    for (int e = 0; e < kSize; ++e) {
      const float product = terms.dy[e] * terms.normal[e];
      partial[column + e] = first_row ? product : partial[column + e] + product;
      bias[column + e] = first_row ? terms.dy[e] : bias[column + e] + terms.dy[e];
    }
  }
}

// Supports rows of any width. A block reads each of its rows twice and keeps its sums in the
// workspace.
template <typename T, int kSize, bool kSums>
__global__ void __launch_bounds__(kLongRowThreads)
    LayerNormBackwardLongRowKernel(LayerNormBackwardArguments arguments) {
  float* partial = kSums ? PartialsOf(arguments) : nullptr;
  for (int64_t row = blockIdx.x; row < arguments.rows; row += gridDim.x) {
    DifferentiateLongRow<T, kSize>(arguments, row, partial, row == blockIdx.x);
  }
}

// Each launch function below returns the number of blocks, which equals the number of rows of
// partial sums.

template <typename T, int kSize, bool kSums>
int64_t LaunchLongRows(const LayerNormBackwardArguments& arguments, cudaStream_t stream) {
  const int64_t blocks = std::min(arguments.rows, kMaxBlocks);
  LayerNormBackwardLongRowKernel<T, kSize, kSums>
      <<<static_cast<unsigned>(blocks), kLongRowThreads, 0, stream>>>(arguments);
  CheckLaunch("LayerNormBackward");
  return blocks;
}

template <typename T, bool kSums>
int64_t LaunchVectors(const LayerNormBackwardArguments& arguments, cudaStream_t stream) {
  int64_t blocks = 0;
  const auto launch = [&]<typename Plan>(Plan) {
    static_assert(kMultiprocessors * ResidentBlocks<Plan>() <= kMaxBlocks);
    const int64_t row_blocks = (arguments.rows + Plan::kBlockRows - 1) / Plan::kBlockRows;
    blocks = std::min<int64_t>(row_blocks, kMultiprocessors * ResidentBlocks<Plan>());
    LayerNormBackwardKernel<T, Plan, kSums>
        <<<static_cast<unsigned>(blocks), Plan::kBlockThreads, 0, stream>>>(arguments);
    CheckLaunch("LayerNormBackward");
  };
  if (DispatchBackwardPlan(arguments.width / kVectorSize<T>, launch)) return blocks;
  return LaunchLongRows<T, kVectorSize<T>, kSums>(arguments, stream);
}

template <typename T, bool kSums>
int64_t LaunchRows(const LayerNormBackwardArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return 0;
  const bool vectors =
      TakesVectors<T>(arguments.width, {arguments.dy, arguments.x, arguments.weight,
                                        arguments.residual_gradient, arguments.dx}) &&
      TakesVectors<float>(arguments.width, {arguments.workspace});
  return vectors ? LaunchVectors<T, kSums>(arguments, stream)
                 : LaunchLongRows<T, 1, kSums>(arguments, stream);
}

}  // namespace

int64_t LayerNormBackwardWorkspaceFloats(int64_t rows, int64_t width) {
  return std::min(rows, kMaxBlocks) * 2 * width;
}

void LayerNormBackward(const LayerNormBackwardArguments& arguments, cudaStream_t stream) {
  const bool sums = arguments.weight_gradient != nullptr || arguments.bias_gradient != nullptr;
  int64_t partial_rows = 0;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    partial_rows =
        sums ? LaunchRows<T, true>(arguments, stream) : LaunchRows<T, false>(arguments, stream);
  });
  const auto add_up = [&](const float* partial, float* sum, bool accumulate) {
    if (sum == nullptr) return;
    AddPartialSums({.partial = partial,
                    .sum = sum,
                    .count = partial_rows,
                    .stride = 2 * arguments.width,
                    .width = arguments.width,
                    .accumulate = accumulate},
                   stream);
  };
  add_up(arguments.workspace, arguments.weight_gradient, arguments.accumulate_weight);
  add_up(arguments.workspace + arguments.width, arguments.bias_gradient, arguments.accumulate_bias);
}

}  // namespace trainyard::trainer::kernels
