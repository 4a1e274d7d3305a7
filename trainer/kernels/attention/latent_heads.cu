#include "trainer/kernels/attention/latent_heads.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/attention/turn.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;

// The work of a thread for one head of a row. The thread either copies a vector of unrotated
// elements, or rotates a vector of the first half of the rotated elements together with its paired
// vector.
struct HeadItem {
  int64_t row;
  int head;
  int element;  // First element of the vector, within the unrotated elements or within the half.
  bool copies;
};

template <int kSize>
__device__ __forceinline__ HeadItem ItemOfThread(const LatentHeadShape& shape) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int copied = static_cast<int>(shape.unrotated) / kSize;
  const int items = copied + static_cast<int>(shape.rotated) / 2 / kSize;
  const int64_t head_index = index / items;
  const int item = static_cast<int>(index - head_index * items);
  const int64_t row = head_index / shape.heads;
  const bool copies = item < copied;
  return {row, static_cast<int>(head_index - row * shape.heads),
          (copies ? item : item - copied) * kSize, copies};
}

// The cosines and sines of a vector of pairs. `direction` is 1, or -1 to rotate back.
template <int kSize>
struct Angles {
  float cos[kSize];
  float sin[kSize];

  __device__ __forceinline__ Angles(const LatentHeadShape& shape, int64_t row, int element,
                                    float direction) {
    const int64_t first = row % shape.length * (shape.rotated / 2) + element;
    LoadFloats(shape.cos + first, cos);
    LoadFloats(shape.sin + first, sin);
#pragma unroll
    for (int i = 0; i < kSize; ++i) sin[i] *= direction;
  }
};

// Rotates a vector of pairs from `from` to `to`, which may be the same memory.
template <typename T, int kSize>
__device__ __forceinline__ void Rotate(const Angles<kSize>& angles, int64_t half, const T* from,
                                       T* to) {
  float first[kSize], second[kSize];
  LoadFloats(from, first);
  LoadFloats(from + half, second);
  Turn(angles.cos, angles.sin, first, second);
  StoreFloats(to, first);
  StoreFloats(to + half, second);
}

template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads) JoinKernel(JoinLatentHeadsArguments arguments) {
  const LatentHeadShape& shape = arguments.shape;
  const HeadItem item = ItemOfThread<kSize>(shape);
  if (item.row >= shape.rows) return;
  const int64_t head = item.row * shape.heads + item.head, size = shape.unrotated + shape.rotated;
  T* key = static_cast<T*>(arguments.key) + head * size;
  if (item.copies) {
    const T* expanded =
        static_cast<const T*>(arguments.expanded) + head * (shape.unrotated + shape.value);
    StoreVector(key + item.element, LoadVector<kSize>(expanded + item.element));
    return;
  }
  const Angles<kSize> angles(shape, item.row, item.element, 1);
  const int64_t first = shape.unrotated + item.element, half = shape.rotated / 2;
  T* query = static_cast<T*>(arguments.query) + head * size;
  Rotate(angles, half, query + first, query + first);
  const T* shared = static_cast<const T*>(arguments.shared) + item.row * shape.rotated;
  Rotate(angles, half, shared + item.element, key + first);
}

template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads) SplitKernel(SplitLatentHeadsArguments arguments) {
  const LatentHeadShape& shape = arguments.shape;
  const HeadItem item = ItemOfThread<kSize>(shape);
  if (item.row >= shape.rows) return;
  const int64_t head = item.row * shape.heads + item.head, size = shape.unrotated + shape.rotated;
  if (item.copies) {
    const T* d_key = static_cast<const T*>(arguments.d_key) + head * size;
    T* d_expanded = static_cast<T*>(arguments.d_expanded) + head * (shape.unrotated + shape.value);
    StoreVector(d_expanded + item.element, LoadVector<kSize>(d_key + item.element));
    return;
  }
  const Angles<kSize> angles(shape, item.row, item.element, -1);
  T* d_query = static_cast<T*>(arguments.d_query) + head * size + shape.unrotated + item.element;
  Rotate(angles, shape.rotated / 2, d_query, d_query);
}

// Each thread adds one vector of pairs over the heads of a row, then rotates the sum back, because
// all heads of a row have the same rotation.
template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads) SumSharedKernel(SplitLatentHeadsArguments arguments) {
  const LatentHeadShape& shape = arguments.shape;
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t half = shape.rotated / 2, vectors = half / kSize, row = index / vectors;
  if (row >= shape.rows) return;
  const int element = static_cast<int>(index - row * vectors) * kSize;
  const int64_t size = shape.unrotated + shape.rotated;
  const T* d_key =
      static_cast<const T*>(arguments.d_key) + row * shape.heads * size + shape.unrotated + element;
  float first[kSize] = {}, second[kSize] = {};
  for (int64_t head = 0; head < shape.heads; ++head) {
    float a[kSize], b[kSize];
    LoadFloats(d_key + head * size, a);
    LoadFloats(d_key + head * size + half, b);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      first[i] += a[i];
      second[i] += b[i];
    }
  }
  const Angles<kSize> angles(shape, row, element, -1);
  Turn(angles.cos, angles.sin, first, second);
  T* d_shared = static_cast<T*>(arguments.d_shared) + row * shape.rotated + element;
  StoreFloats(d_shared, first);
  StoreFloats(d_shared + half, second);
}

unsigned BlocksFor(int64_t items) {
  return static_cast<unsigned>((items + kThreads - 1) / kThreads);
}

int64_t HeadItems(const LatentHeadShape& shape, int64_t vector) {
  return shape.rows * shape.heads * (shape.unrotated / vector + shape.rotated / 2 / vector);
}

// True if every part of every head begins at a whole vector.
template <typename T>
bool TakesHeadVectors(const LatentHeadShape& shape, std::initializer_list<const void*> tensors) {
  return TakesVectors<T>(shape.unrotated, tensors) && TakesVectors<T>(shape.value, {}) &&
         TakesVectors<T>(shape.rotated / 2, {shape.cos, shape.sin});
}

template <typename T, int kSize>
void LaunchSplit(const SplitLatentHeadsArguments& arguments, cudaStream_t stream) {
  const LatentHeadShape& shape = arguments.shape;
  SplitKernel<T, kSize><<<BlocksFor(HeadItems(shape, kSize)), kThreads, 0, stream>>>(arguments);
  CheckLaunch("SplitLatentHeads");
  const int64_t sums = shape.rows * (shape.rotated / 2 / kSize);
  SumSharedKernel<T, kSize><<<BlocksFor(sums), kThreads, 0, stream>>>(arguments);
  CheckLaunch("SplitLatentHeads, sum");
}

}  // namespace

void JoinLatentHeads(const JoinLatentHeadsArguments& arguments, cudaStream_t stream) {
  const LatentHeadShape& shape = arguments.shape;
  if (shape.rows == 0) return;
  DispatchType(shape.type, [&]<typename T>(std::type_identity<T>) {
    constexpr int kWide = kVectorSize<T>;
    if (TakesHeadVectors<T>(
            shape, {arguments.query, arguments.key, arguments.expanded, arguments.shared})) {
      JoinKernel<T, kWide><<<BlocksFor(HeadItems(shape, kWide)), kThreads, 0, stream>>>(arguments);
    } else {
      JoinKernel<T, 1><<<BlocksFor(HeadItems(shape, 1)), kThreads, 0, stream>>>(arguments);
    }
    CheckLaunch("JoinLatentHeads");
  });
}

void SplitLatentHeads(const SplitLatentHeadsArguments& arguments, cudaStream_t stream) {
  const LatentHeadShape& shape = arguments.shape;
  if (shape.rows == 0) return;
  DispatchType(shape.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesHeadVectors<T>(shape, {arguments.d_query, arguments.d_key, arguments.d_expanded,
                                    arguments.d_shared})) {
      LaunchSplit<T, kVectorSize<T>>(arguments, stream);
    } else {
      LaunchSplit<T, 1>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
