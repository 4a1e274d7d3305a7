#include "trainer/kernels/cross_entropy.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 1024;
// Vectors that a thread loads before it uses the first: bytes in flight that hide the latency of
// memory.
constexpr int kThreadVectors = 4;
// Most of a row that a block keeps in shared memory, of which a block can have 227 KB. What is
// left of a row of 128,256 bf16 logits, 27 KB, comes from the L2 cache the second time.
constexpr int64_t kCacheBytes = 224 * 1024;

constexpr float kLog2E = 1.44269504088896341f;
constexpr float kLn2 = 0.69314718055994531f;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
// Maximum of no logits. Finite, because the difference of two maxima must not be NaN. A row of
// smaller logits only gets a loss that is not finite.
constexpr float kNoMaximum = -1e38f;

// A row in memory: single elements up to the first address of whole vectors, the vectors, and
// single elements again. The single elements of both ends are its edges, fewer than two vectors.
template <typename T>
class Row {
 public:
  static constexpr int kSize = kVectorSize<T>;

  __device__ Row(T* logits, int length) : logits_(logits) {
    const auto address = reinterpret_cast<uintptr_t>(logits);
    const int misaligned = static_cast<int>(address % kVectorBytes / sizeof(T));
    head_ = min(length, (kSize - misaligned) % kSize);
    vectors_ = (length - head_) / kSize;
    edges_ = length - vectors_ * kSize;
  }

  __device__ int vectors() const { return vectors_; }
  __device__ T* vector(int index) const { return logits_ + head_ + index * kSize; }
  __device__ int edges() const { return edges_; }
  __device__ T* edge(int index) const {
    return logits_ + (index < head_ ? index : index + vectors_ * kSize);
  }

 private:
  T* logits_;
  int head_;
  int vectors_;
  int edges_;
};

// Shared memory with the first vectors of a row. A thread reads only what it wrote itself.
struct Cache {
  uint4* vectors;
  int size;
};

// Results below 2^-126 are 0: far below what counts in fp32 beside the maximum's 1.
__device__ __forceinline__ float Exp2(float exponent) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(exponent));
  return result;
}

// The exponent of 2 to subtract for a maximum. Rounded before it is used, so that every use has
// equal bits and its error cancels from the probabilities. It overflows for a maximum above
// 2.3e38, and then the loss is NaN.
__device__ __forceinline__ float Shift(float maximum) { return __fmul_rn(maximum, kLog2E); }

__device__ __forceinline__ float ShiftedExp(float logit, float shift) {
  return Exp2(fmaf(logit, kLog2E, -shift));
}

// Sum of the shifted exponentials of the logits seen so far.
struct ExpSum {
  float maximum = kNoMaximum;
  float sum = 0;

  // Rescales the sum to the new maximum (Milakov and Gimelshein 2018, arXiv 1805.02867). fmaxf
  // drops a NaN, but the sum takes it up.
  template <int kCount>
  __device__ __forceinline__ void Add(const float (&logits)[kCount]) {
    const float previous = Shift(maximum);
#pragma unroll
    for (int i = 0; i < kCount; ++i) maximum = fmaxf(maximum, logits[i]);
    const float shift = Shift(maximum);
    float added = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) added += ShiftedExp(logits[i], shift);
    sum = sum * Exp2(previous - shift) + added;
  }
};

// The sum over all threads of the block, with equal bits in each.
__device__ ExpSum BlockExpSum(const ExpSum& own) {
  ExpSum all;
  all.maximum = BlockMax<kThreads>(own.maximum);
  all.sum = BlockSum<kThreads>(own.sum * Exp2(Shift(own.maximum) - Shift(all.maximum)));
  return all;
}

// Reads the row once and fills the cache.
template <typename T>
__device__ ExpSum SumRow(const Row<T>& row, const Cache& cache) {
  constexpr int kSize = Row<T>::kSize;
  ExpSum own;
  for (int first = threadIdx.x; first < row.vectors(); first += kThreadVectors * kThreads) {
    Vector<T> loaded[kThreadVectors];
#pragma unroll
    for (int k = 0; k < kThreadVectors; ++k) {
      const int index = first + k * kThreads;
      loaded[k] = index < row.vectors() ? LoadVector<kSize>(row.vector(index)) : Vector<T>{};
    }
    float logits[kThreadVectors * kSize];
#pragma unroll
    for (int k = 0; k < kThreadVectors; ++k) {
      const int index = first + k * kThreads;
      if (index < cache.size) cache.vectors[index] = loaded[k].bits;
      float part[kSize];
      ToFloats(loaded[k], part);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        logits[k * kSize + i] = index < row.vectors() ? part[i] : kMinusInfinity;
      }
    }
    own.Add(logits);
  }
  if (threadIdx.x < row.edges()) {
    const float logit[1] = {static_cast<float>(*row.edge(threadIdx.x))};
    own.Add(logit);
  }
  return BlockExpSum(own);
}

// Writes weight * softmax over the row.
template <typename T>
__device__ void WriteProbabilities(const Row<T>& row, const Cache& cache, const ExpSum& all,
                                   float weight) {
  constexpr int kSize = Row<T>::kSize;
  const float shift = Shift(all.maximum);
  const float scale = weight / all.sum;
  for (int first = threadIdx.x; first < row.vectors(); first += kThreadVectors * kThreads) {
    Vector<T> loaded[kThreadVectors];
#pragma unroll
    for (int k = 0; k < kThreadVectors; ++k) {
      const int index = first + k * kThreads;
      if (index < cache.size) {
        loaded[k].bits = cache.vectors[index];
      } else if (index < row.vectors()) {
        loaded[k] = LoadVector<kSize>(row.vector(index));
      }
    }
#pragma unroll
    for (int k = 0; k < kThreadVectors; ++k) {
      const int index = first + k * kThreads;
      if (index >= row.vectors()) break;
      float values[kSize];
      ToFloats(loaded[k], values);
#pragma unroll
      for (int i = 0; i < kSize; ++i) values[i] = scale * ShiftedExp(values[i], shift);
      StoreFloats(row.vector(index), values);
    }
  }
  if (threadIdx.x < row.edges()) {
    T* edge = row.edge(threadIdx.x);
    *edge = static_cast<T>(scale * ShiftedExp(static_cast<float>(*edge), shift));
  }
}

template <typename T>
__device__ void WriteZeros(const Row<T>& row) {
  for (int index = threadIdx.x; index < row.vectors(); index += kThreads) {
    StoreVector(row.vector(index), Vector<T>{});
  }
  if (threadIdx.x < row.edges()) *row.edge(threadIdx.x) = static_cast<T>(0.0f);
}

// log(sum(exp(logits))) - target. The last term takes out the rounding of the shift.
__device__ float LossOf(const ExpSum& all, float target) {
  const float shift_error = fmaf(all.maximum, kLog2E, -Shift(all.maximum));
  return (all.maximum - target) + logf(all.sum) - kLn2 * shift_error;
}

// A block for each row.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    CrossEntropyKernel(CrossEntropyArguments arguments, int cached_vectors) {
  extern __shared__ uint4 cached[];
  const int64_t index = blockIdx.x;
  const float weight = arguments.loss_weights[index];
  T* logits = static_cast<T*>(arguments.logits) + index * arguments.vocabulary;
  const Row<T> row(logits, static_cast<int>(arguments.vocabulary));
  if (weight == 0) {
    if (threadIdx.x == 0) arguments.row_losses[index] = 0;
    if (arguments.with_gradient) WriteZeros(row);
    return;
  }
  T* target = logits + arguments.targets[index];
  const float target_logit = static_cast<float>(*target);
  const Cache cache = {cached, min(cached_vectors, row.vectors())};
  const ExpSum all = SumRow(row, cache);
  if (threadIdx.x == 0) arguments.row_losses[index] = weight * LossOf(all, target_logit);
  if (!arguments.with_gradient) return;
  WriteProbabilities(row, cache, all, weight);
  __syncthreads();  // The target's gradient replaces what was written there.
  if (threadIdx.x == 0) {
    const float probability = ShiftedExp(target_logit, Shift(all.maximum)) / all.sum;
    *target = static_cast<T>(weight * (probability - 1));
  }
}

// One block.
__global__ void __launch_bounds__(kThreads)
    AddLossesKernel(const float* row_losses, int64_t rows, double* loss) {
  double sum = 0;
  for (int64_t row = threadIdx.x; row < rows; row += kThreads) sum += row_losses[row];
  sum = BlockSum<kThreads>(sum);
  if (threadIdx.x == 0) *loss += sum;
}

template <typename T>
void LaunchRows(const CrossEntropyArguments& arguments, cudaStream_t stream) {
  const int64_t row_bytes = arguments.vocabulary * static_cast<int64_t>(sizeof(T));
  const int64_t cached_vectors =
      arguments.with_gradient ? std::min(row_bytes, kCacheBytes) / kVectorBytes : 0;
  CheckCuda(cudaFuncSetAttribute(CrossEntropyKernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(kCacheBytes)),
            "CrossEntropy: shared memory");
  CrossEntropyKernel<T>
      <<<static_cast<unsigned>(arguments.rows), kThreads, cached_vectors * kVectorBytes, stream>>>(
          arguments, static_cast<int>(cached_vectors));
  CheckLaunch("CrossEntropy");
}

}  // namespace

void CrossEntropy(const CrossEntropyArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  if (arguments.vocabulary > std::numeric_limits<int>::max() / 2) {
    throw KernelError("CrossEntropy: the vocabulary is too large");
  }
  DispatchType(arguments.type,
               [&]<typename T>(std::type_identity<T>) { LaunchRows<T>(arguments, stream); });
  AddLossesKernel<<<1, kThreads, 0, stream>>>(arguments.row_losses, arguments.rows, arguments.loss);
  CheckLaunch("CrossEntropy: loss");
}

}  // namespace trainyard::trainer::kernels
