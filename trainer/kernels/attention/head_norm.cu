#include "trainer/kernels/attention/head_norm.h"

#include <algorithm>

#include "trainer/kernels/column_sums.cuh"
#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/norms/norm_gradient.cuh"
#include "trainer/kernels/partial_sums.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;
// The maximum number of rows of partial sums. The kernel for long heads writes one row per warp,
// and the largest grid of that kernel has this many warps. The kernel that keeps heads in registers
// writes one row per block.
constexpr int64_t kMaxPartials = 8 * kMultiprocessors;
constexpr int64_t kMaxBlocks = 4 * kMultiprocessors;

// kLanes lanes of a warp share a head, and each lane has kVectors vectors: vector i of lane l is
// vector l + i * kLanes of the head.
template <int kLaneCount, int kVectorCount>
struct HeadPlan {
  static constexpr int kLanes = kLaneCount;
  static constexpr int kVectors = kVectorCount;
  static constexpr int kCapacity = kLanes * kVectors;  // Maximum number of vectors per head.
  static constexpr int kBlockHeads = kThreads / kLanes;
};

// Calls function(HeadPlan<...>{}) with the smallest plan for heads of `vectors` vectors. If the
// heads have more than kThreads elements, returns false without calling `function`.
template <typename T, typename Function>
bool DispatchHeadPlan(int64_t vectors, Function&& function) {
  const auto fits = [&]<typename Plan>(Plan plan) {
    if (vectors > Plan::kCapacity) return false;
    function(plan);
    return true;
  };
  return fits(HeadPlan<8, 1>{}) || fits(HeadPlan<16, 1>{}) || fits(HeadPlan<32, 1>{}) ||
         fits(HeadPlan<32, kThreads / kWarpSize / kVectorSize<T>>{});
}

// Returns the sum over the lanes that share a head. Every lane gets the same bits. Every lane of
// the warp must call this function.
template <typename Plan>
__device__ __forceinline__ float HeadSum(float value) {
#pragma unroll
  for (int step = Plan::kLanes / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, step);
  }
  return value;
}

__device__ __forceinline__ int64_t AllHeads(const PackedHeads& heads) {
  return heads.tokens * heads.heads;
}

// Returns a pointer to the first element of head number `index`, counted over all tokens.
template <typename T>
__device__ __forceinline__ T* HeadAt(const PackedHeads& heads, int64_t index) {
  const int64_t token = index / heads.heads;
  const int64_t head = index - token * heads.heads;
  return static_cast<T*>(heads.first) + token * heads.row_stride + head * heads.head_size;
}

template <typename T, typename Plan>
struct HeadPart {
  Vector<T> vectors[Plan::kVectors];
};

template <typename Plan>
__device__ __forceinline__ int Lane() {
  return threadIdx.x % Plan::kLanes;
}

// Loads a head. Vectors with an index of at least `vectors` are set to zero.
template <typename Plan, typename T>
__device__ __forceinline__ HeadPart<T, Plan> LoadHead(const T* head, int vectors) {
  HeadPart<T, Plan> part;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const int index = Lane<Plan>() + i * Plan::kLanes;
    part.vectors[i] = {make_uint4(0, 0, 0, 0)};
    if (index < vectors)
      part.vectors[i] = LoadVector<kVectorSize<T>>(head + index * kVectorSize<T>);
  }
  return part;
}

__device__ __forceinline__ float InverseRms(float square_sum, int64_t size, float epsilon) {
  return rsqrtf(square_sum / static_cast<float>(size) + epsilon);
}

template <typename T, typename Plan>
__global__ void __launch_bounds__(kThreads)
    HeadNormForwardKernel(HeadNormForwardArguments arguments) {
  constexpr int kSize = kVectorSize<T>;
  const PackedHeads& heads = arguments.heads;
  const int64_t index =
      static_cast<int64_t>(blockIdx.x) * Plan::kBlockHeads + threadIdx.x / Plan::kLanes;
  const bool is_inside = index < AllHeads(heads);
  // Lanes after the last head contribute zeros to the sums.
  const int vectors = is_inside ? static_cast<int>(heads.head_size) / kSize : 0;
  T* head = HeadAt<T>(heads, is_inside ? index : 0);
  const HeadPart<T, Plan> x = LoadHead<Plan>(static_cast<const T*>(head), vectors);
  const HeadPart<T, Plan> weight = LoadHead<Plan>(static_cast<const T*>(arguments.weight), vectors);
  float square_sum = 0;
  float values[kSize];
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    ToFloats(x.vectors[i], values);
#pragma unroll
    for (int e = 0; e < kSize; ++e) square_sum += values[e] * values[e];
  }
  const float inverse_rms =
      InverseRms(HeadSum<Plan>(square_sum), heads.head_size, arguments.epsilon);
  if (is_inside && Lane<Plan>() == 0) arguments.inverse_rms[index] = inverse_rms;
  T* kept = static_cast<T*>(arguments.kept);
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const int vector = Lane<Plan>() + i * Plan::kLanes;
    if (vector >= vectors) break;
    float weights[kSize];
    ToFloats(x.vectors[i], values);
    ToFloats(weight.vectors[i], weights);
#pragma unroll
    for (int e = 0; e < kSize; ++e) values[e] *= inverse_rms * weights[e];
    StoreFloats(head + vector * kSize, values);
    if (kept != nullptr) {
      StoreVector(kept + index * heads.head_size + vector * kSize, x.vectors[i]);
    }
  }
}

// The sums of dy * n over the thread's heads, for the columns of its vectors.
template <typename T, typename Plan>
using HeadSums = float[Plan::kVectors][kVectorSize<T>];

// Writes the gradient of one head and adds dy * n to the sums. `vectors` must be 0 after the last
// head.
template <typename T, typename Plan>
__device__ __forceinline__ void DifferentiateHead(const HeadNormBackwardArguments& arguments,
                                                  int64_t index, int vectors,
                                                  const HeadPart<T, Plan>& weight,
                                                  HeadSums<T, Plan>& sums) {
  constexpr int kSize = kVectorSize<T>;
  const PackedHeads& heads = arguments.gradients;
  T* gradient = HeadAt<T>(heads, index);
  const HeadPart<T, Plan> dy = LoadHead<Plan>(static_cast<const T*>(gradient), vectors);
  const HeadPart<T, Plan> x =
      LoadHead<Plan>(static_cast<const T*>(arguments.kept) + index * heads.head_size, vectors);
  const float inverse_rms = arguments.inverse_rms[index];
  float dot = 0;
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const auto operands = ToOperands(dy.vectors[i], x.vectors[i], weight.vectors[i]);
    dot += Dot(operands);
    AddColumns(operands, inverse_rms, sums[i]);
  }
  const float mean = HeadSum<Plan>(dot) * inverse_rms / static_cast<float>(heads.head_size);
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
    const int vector = Lane<Plan>() + i * Plan::kLanes;
    if (vector >= vectors) break;
    float result[kSize] = {};
    AddDx(ToOperands(dy.vectors[i], x.vectors[i], weight.vectors[i]), inverse_rms, mean, result);
    StoreFloats(gradient + vector * kSize, result);
  }
}

// Adds, in order, the sums of the heads that a block processes concurrently. Stores the result in
// the block's row of partial sums.
template <typename T, typename Plan>
__device__ __forceinline__ void StoreBlockSums(const HeadSums<T, Plan>& sums, int64_t head_size,
                                               float* partial) {
  constexpr int kSize = kVectorSize<T>;
  constexpr int kColumns = Plan::kCapacity * kSize;
  static_assert(kColumns <= kThreads);
  __shared__ float shared[Plan::kBlockHeads][kColumns];
#pragma unroll
  for (int i = 0; i < Plan::kVectors; ++i) {
#pragma unroll
    for (int e = 0; e < kSize; ++e) {
      const int column = (Lane<Plan>() + i * Plan::kLanes) * kSize + e;
      shared[threadIdx.x / Plan::kLanes][column] = sums[i][e];
    }
  }
  __syncthreads();
  if (threadIdx.x >= head_size) return;
  float sum = 0;
  for (int head = 0; head < Plan::kBlockHeads; ++head) sum += shared[head][threadIdx.x];
  partial[threadIdx.x] = sum;
}

template <typename T, typename Plan>
__global__ void __launch_bounds__(kThreads)
    HeadNormBackwardKernel(HeadNormBackwardArguments arguments) {
  const PackedHeads& heads = arguments.gradients;
  const int64_t count = AllHeads(heads);
  const int vectors = static_cast<int>(heads.head_size) / kVectorSize<T>;
  const HeadPart<T, Plan> weight = LoadHead<Plan>(static_cast<const T*>(arguments.weight), vectors);
  HeadSums<T, Plan> sums = {};
  const int64_t step = static_cast<int64_t>(gridDim.x) * Plan::kBlockHeads;
  // All lanes run the same number of rounds, because a sum needs every lane of a warp.
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * Plan::kBlockHeads; first < count;
       first += step) {
    const int64_t index = first + threadIdx.x / Plan::kLanes;
    const bool is_inside = index < count;
    DifferentiateHead<T, Plan>(arguments, is_inside ? index : 0, is_inside ? vectors : 0, weight,
                               sums);
  }
  StoreBlockSums<T, Plan>(sums, heads.head_size,
                          arguments.workspace + blockIdx.x * heads.head_size);
}

// Supports heads of any size and address. One warp processes a head and reads it twice.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    LongHeadForwardKernel(HeadNormForwardArguments arguments) {
  const PackedHeads& heads = arguments.heads;
  const int64_t index = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kWarpSize;
  if (index >= AllHeads(heads)) return;
  const int lane = threadIdx.x % kWarpSize;
  T* head = HeadAt<T>(heads, index);
  float square_sum = 0;
  for (int64_t column = lane; column < heads.head_size; column += kWarpSize) {
    const float value = static_cast<float>(head[column]);
    square_sum += value * value;
  }
  const float inverse_rms = InverseRms(WarpSum(square_sum), heads.head_size, arguments.epsilon);
  if (lane == 0) arguments.inverse_rms[index] = inverse_rms;
  T* kept = static_cast<T*>(arguments.kept);
  const T* weight = static_cast<const T*>(arguments.weight);
  for (int64_t column = lane; column < heads.head_size; column += kWarpSize) {
    const T before = head[column];
    if (kept != nullptr) kept[index * heads.head_size + column] = before;
    head[column] = static_cast<T>(static_cast<float>(before) *
                                  (inverse_rms * static_cast<float>(weight[column])));
  }
}

// The operands for one element.
template <typename T>
__device__ __forceinline__ Operands<1> OperandsAt(const T& dy, const T& x, const T& weight) {
  return ToOperands(Vector<T, 1>{dy}, Vector<T, 1>{x}, Vector<T, 1>{weight});
}

// `partial` is the warp's row of partial sums, which the warp's first head initializes.
template <typename T>
__device__ __forceinline__ void DifferentiateLongHead(const HeadNormBackwardArguments& arguments,
                                                      int64_t index, float* partial,
                                                      bool is_first) {
  const PackedHeads& heads = arguments.gradients;
  const int lane = threadIdx.x % kWarpSize;
  T* gradient = HeadAt<T>(heads, index);
  const T* x = static_cast<const T*>(arguments.kept) + index * heads.head_size;
  const T* weight = static_cast<const T*>(arguments.weight);
  const float inverse_rms = arguments.inverse_rms[index];
  float dot = 0;
  for (int64_t column = lane; column < heads.head_size; column += kWarpSize) {
    dot += Dot(OperandsAt(gradient[column], x[column], weight[column]));
  }
  const float mean = WarpSum(dot) * inverse_rms / static_cast<float>(heads.head_size);
  for (int64_t column = lane; column < heads.head_size; column += kWarpSize) {
    const Operands<1> operands = OperandsAt(gradient[column], x[column], weight[column]);
    float sums[1] = {is_first ? 0.0f : partial[column]};
    float result[1] = {};
    AddColumns(operands, inverse_rms, sums);
    AddDx(operands, inverse_rms, mean, result);
    partial[column] = sums[0];
    gradient[column] = static_cast<T>(result[0]);
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    LongHeadBackwardKernel(HeadNormBackwardArguments arguments, int64_t warps) {
  const PackedHeads& heads = arguments.gradients;
  const int64_t warp = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kWarpSize;
  if (warp >= warps) return;
  float* partial = arguments.workspace + warp * heads.head_size;
  for (int64_t index = warp; index < AllHeads(heads); index += warps) {
    DifferentiateLongHead<T>(arguments, index, partial, index == warp);
  }
}

template <typename T>
bool TakesHeadVectors(const PackedHeads& heads, std::initializer_list<const void*> addresses) {
  return TakesVectors<T>(heads.head_size, addresses) &&
         TakesVectors<T>(heads.row_stride, {heads.first});
}

unsigned WarpBlocks(int64_t warps) {
  constexpr int64_t kBlockWarps = kThreads / kWarpSize;
  return static_cast<unsigned>((warps + kBlockWarps - 1) / kBlockWarps);
}

template <typename T>
void LaunchForward(const HeadNormForwardArguments& arguments, cudaStream_t stream) {
  const PackedHeads& heads = arguments.heads;
  const int64_t count = heads.tokens * heads.heads;
  const auto launch = [&]<typename Plan>(Plan) {
    const int64_t blocks = (count + Plan::kBlockHeads - 1) / Plan::kBlockHeads;
    HeadNormForwardKernel<T, Plan>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(arguments);
  };
  const bool vectors = TakesHeadVectors<T>(heads, {arguments.weight, arguments.kept});
  if (!vectors || !DispatchHeadPlan<T>(heads.head_size / kVectorSize<T>, launch)) {
    LongHeadForwardKernel<T><<<WarpBlocks(count), kThreads, 0, stream>>>(arguments);
  }
  CheckLaunch("HeadNormForward");
}

// Returns the number of rows of partial sums.
template <typename T>
int64_t LaunchBackward(const HeadNormBackwardArguments& arguments, cudaStream_t stream) {
  const PackedHeads& heads = arguments.gradients;
  const int64_t count = heads.tokens * heads.heads;
  int64_t partials = 0;
  const auto launch = [&]<typename Plan>(Plan) {
    partials = std::min<int64_t>((count + Plan::kBlockHeads - 1) / Plan::kBlockHeads, kMaxBlocks);
    HeadNormBackwardKernel<T, Plan>
        <<<static_cast<unsigned>(partials), kThreads, 0, stream>>>(arguments);
  };
  const bool vectors = TakesHeadVectors<T>(heads, {arguments.weight, arguments.kept});
  if (!vectors || !DispatchHeadPlan<T>(heads.head_size / kVectorSize<T>, launch)) {
    partials = std::min(count, kMaxPartials);
    LongHeadBackwardKernel<T><<<WarpBlocks(partials), kThreads, 0, stream>>>(arguments, partials);
  }
  CheckLaunch("HeadNormBackward");
  return partials;
}

}  // namespace

void HeadNormForward(const HeadNormForwardArguments& arguments, cudaStream_t stream) {
  if (arguments.heads.tokens * arguments.heads.heads == 0) return;
  DispatchType(arguments.heads.type,
               [&]<typename T>(std::type_identity<T>) { LaunchForward<T>(arguments, stream); });
}

int64_t HeadNormBackwardWorkspaceFloats(int64_t all_heads, int64_t head_size) {
  return std::min(all_heads, kMaxPartials) * head_size;
}

void HeadNormBackward(const HeadNormBackwardArguments& arguments, cudaStream_t stream) {
  const PackedHeads& heads = arguments.gradients;
  int64_t partials = 0;
  if (heads.tokens * heads.heads > 0) {
    DispatchType(heads.type, [&]<typename T>(std::type_identity<T>) {
      partials = LaunchBackward<T>(arguments, stream);
    });
  }
  AddPartialSums({.partial = arguments.workspace,
                  .sum = arguments.weight_gradient,
                  .count = partials,
                  .stride = heads.head_size,
                  .width = heads.head_size,
                  .accumulate = arguments.accumulate},
                 stream);
}

}  // namespace trainyard::trainer::kernels
