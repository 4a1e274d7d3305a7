// Processes a row of logits with the threads of one block: computes its sum of exponentials, and
// replaces the logits with their gradient. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_LOSS_CROSS_ENTROPY_ROW_CUH_
#define TRAINYARD_TRAINER_KERNELS_LOSS_CROSS_ENTROPY_ROW_CUH_

#include <cstdint>
#include <limits>

#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {

// The number of threads in a block that processes one row. Two such blocks fit on a multiprocessor,
// so that one can read its row while the other computes.
inline constexpr int kLossThreads = 512;
inline constexpr int kLossBlocks = 2;
// The number of threads if the shared memory of a multiprocessor suffices for one row only.
inline constexpr int kLongRowThreads = 1024;
// The number of vectors that a thread loads before it uses the first. This number keeps enough
// loads in flight to hide memory latency.
inline constexpr int kLoadedVectors = 4;
inline constexpr float kLog2E = 1.44269504088896341f;
inline constexpr float kLn2 = 0.69314718055994531f;
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
// The initial value of a maximum of logits. It is finite, because the difference of two maxima must
// not be NaN. A row whose logits are all smaller has a sum of 0.
inline constexpr float kNoMaximum = -1e38f;

// A row in memory: single elements up to the first vector-aligned address, then vectors, then
// single elements. The single elements at both ends are called edges. A row has fewer edges than
// two vectors have elements.
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

// The first vectors of a row, kept in shared memory. A thread reads only the vectors that it wrote.
// The size is 0 if a kernel needs each logit only once.
struct Cache {
  uint4* vectors = nullptr;
  int size = 0;
};

// Returns 2^exponent. Results below 2^-126 become 0, because in fp32 they are negligible next to
// the exponential of the maximum, which is 1.
__device__ __forceinline__ float Exp2(float exponent) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(exponent));
  return result;
}

// Returns maximum * log2(e), which is subtracted from every exponent of 2. The product is rounded
// once, before it is used, so that all uses have equal bits and the rounding error cancels in the
// probabilities. The product overflows for a maximum above 2.3e38; the loss is then NaN.
__device__ __forceinline__ float Shift(float maximum) { return __fmul_rn(maximum, kLog2E); }

// Returns the exact exponent minus the rounded exponent that Shift returns.
__device__ __forceinline__ float ShiftError(float maximum) {
  return fmaf(maximum, kLog2E, -Shift(maximum));
}

__device__ __forceinline__ float ShiftedExp(float logit, float shift) {
  return Exp2(fmaf(logit, kLog2E, -shift));
}

// The sum of the shifted exponentials of the logits processed so far.
struct ExpSum {
  float maximum = kNoMaximum;
  float sum = 0;

  // Adds logits and rescales the sum to the new maximum (Milakov and Gimelshein 2018, arXiv
  // 1805.02867). fmaxf ignores a NaN, but the sum propagates it.
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

// Returns the sum over all threads of the block. Every thread gets the same bits.
template <int kThreads>
__device__ __forceinline__ ExpSum BlockExpSum(const ExpSum& own) {
  ExpSum all;
  all.maximum = BlockMax<kThreads>(own.maximum);
  all.sum = BlockSum<kThreads>(own.sum * Exp2(Shift(own.maximum) - Shift(all.maximum)));
  return all;
}

// Reads the row once and fills the cache. Returns the sum over the whole row.
template <int kThreads, typename T>
__device__ __forceinline__ ExpSum SumRow(const Row<T>& row, const Cache& cache) {
  constexpr int kSize = Row<T>::kSize;
  ExpSum own;
  for (int first = threadIdx.x; first < row.vectors(); first += kLoadedVectors * kThreads) {
    Vector<T> loaded[kLoadedVectors];
#pragma unroll
    for (int k = 0; k < kLoadedVectors; ++k) {
      const int index = first + k * kThreads;
      loaded[k] = index < row.vectors() ? LoadVector<kSize>(row.vector(index)) : Vector<T>{};
    }
    float logits[kLoadedVectors * kSize];
#pragma unroll
    for (int k = 0; k < kLoadedVectors; ++k) {
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
  return BlockExpSum<kThreads>(own);
}

// Replaces each logit of the row with gradient(logit).
template <int kThreads, typename T, typename Gradient>
__device__ __forceinline__ void WriteGradient(const Row<T>& row, const Cache& cache,
                                              const Gradient& gradient) {
  constexpr int kSize = Row<T>::kSize;
  for (int first = threadIdx.x; first < row.vectors(); first += kLoadedVectors * kThreads) {
    Vector<T> loaded[kLoadedVectors];
#pragma unroll
    for (int k = 0; k < kLoadedVectors; ++k) {
      const int index = first + k * kThreads;
      if (index < cache.size) {
        loaded[k].bits = cache.vectors[index];
      } else if (index < row.vectors()) {
        loaded[k] = LoadVector<kSize>(row.vector(index));
      }
    }
#pragma unroll
    for (int k = 0; k < kLoadedVectors; ++k) {
      const int index = first + k * kThreads;
      if (index >= row.vectors()) break;
      float values[kSize];
      ToFloats(loaded[k], values);
#pragma unroll
      for (int i = 0; i < kSize; ++i) values[i] = gradient(values[i]);
      StoreFloats(row.vector(index), values);
    }
  }
  if (threadIdx.x < row.edges()) {
    T* edge = row.edge(threadIdx.x);
    *edge = static_cast<T>(gradient(static_cast<float>(*edge)));
  }
}

template <int kThreads, typename T>
__device__ __forceinline__ void WriteZeros(const Row<T>& row) {
  for (int index = threadIdx.x; index < row.vectors(); index += kThreads) {
    StoreVector(row.vector(index), Vector<T>{});
  }
  if (threadIdx.x < row.edges()) *row.edge(threadIdx.x) = static_cast<T>(0.0f);
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_LOSS_CROSS_ENTROPY_ROW_CUH_
