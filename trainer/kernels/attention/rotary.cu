#include "trainer/kernels/attention/rotary.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/attention/turn.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 128;
// The number of heads that a thread rotates with one load of the cosines and sines. The thread
// loads all heads before it stores the first, which keeps enough loads in flight to hide memory
// latency.
constexpr int kThreadHeads = 4;

struct RotateShape {
  int64_t rows;
  int64_t length;
  int64_t row_size;  // Number of elements per packed row.
  int head_size;
  int half;    // Half the number of rotated elements per head.
  int heads;   // Rotated heads.
  int groups;  // A thread of group g rotates heads g, g + groups, g + 2 * groups, ...
};

// The work of a thread: for some heads of a row, one vector in the first half of the rotated
// elements and its paired vector in the second half.
struct RotateItem {
  int64_t row;
  int group;
  int element;  // Index of the vector's first element within its half.
};

template <int kSize>
__device__ __forceinline__ RotateItem ItemOfThread(const RotateShape& shape) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const unsigned half_vectors = shape.half / kSize;
  const unsigned row_items = shape.groups * half_vectors;
  const int64_t row = index / row_items;
  const unsigned rest = static_cast<unsigned>(index - row * row_items);
  return {row, static_cast<int>(rest / half_vectors),
          static_cast<int>(rest % half_vectors) * kSize};
}

// `direction` is 1, or -1 to rotate by the negative angle.
template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads)
    RotateKernel(RotateArguments arguments, RotateShape shape, float direction) {
  const RotateItem item = ItemOfThread<kSize>(shape);
  if (item.row >= shape.rows) return;
  T* row = static_cast<T*>(arguments.packed) + item.row * shape.row_size + item.element;
  Vector<T, kSize> firsts[kThreadHeads];
  Vector<T, kSize> seconds[kThreadHeads];
#pragma unroll
  for (int i = 0; i < kThreadHeads; ++i) {
    const int head = item.group + i * shape.groups;
    if (head >= shape.heads) break;
    const T* first = row + static_cast<int64_t>(head) * shape.head_size;
    firsts[i] = LoadVector<kSize>(first);
    seconds[i] = LoadVector<kSize>(first + shape.half);
  }
  const int64_t angle = item.row % shape.length * shape.half + item.element;
  float cos[kSize];
  float sin[kSize];
  LoadFloats(arguments.cos + angle, cos);
  LoadFloats(arguments.sin + angle, sin);
#pragma unroll
  for (int e = 0; e < kSize; ++e) sin[e] *= direction;
#pragma unroll
  for (int i = 0; i < kThreadHeads; ++i) {
    const int head = item.group + i * shape.groups;
    if (head >= shape.heads) break;
    T* address = row + static_cast<int64_t>(head) * shape.head_size;
    float first[kSize];
    float second[kSize];
    ToFloats(firsts[i], first);
    ToFloats(seconds[i], second);
    Turn(cos, sin, first, second);
    StoreFloats(address, first);
    StoreFloats(address + shape.half, second);
  }
}

RotateShape ShapeOf(const RotateArguments& arguments) {
  RotateShape shape;
  shape.rows = arguments.rows;
  shape.length = arguments.length;
  shape.row_size = arguments.row_heads * arguments.head_size;
  shape.head_size = static_cast<int>(arguments.head_size);
  shape.half = static_cast<int>(arguments.rotary_size / 2);
  shape.heads = static_cast<int>(arguments.rotated_heads);
  shape.groups = (shape.heads + kThreadHeads - 1) / kThreadHeads;
  return shape;
}

template <typename T, int kSize>
void Launch(const RotateArguments& arguments, cudaStream_t stream) {
  const RotateShape shape = ShapeOf(arguments);
  const int64_t items = shape.rows * shape.groups * (shape.half / kSize);
  const int64_t blocks = (items + kThreads - 1) / kThreads;
  const float direction = arguments.back ? -1.0f : 1.0f;
  RotateKernel<T, kSize>
      <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(arguments, shape, direction);
  CheckLaunch("Rotate");
}

}  // namespace

void Rotate(const RotateArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0 || arguments.rotated_heads == 0 || arguments.rotary_size == 0) return;
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    const int64_t half = arguments.rotary_size / 2;
    if (TakesVectors<T>(half, {arguments.packed, arguments.cos, arguments.sin}) &&
        TakesVectors<T>(arguments.head_size, {arguments.packed})) {
      Launch<T, kVectorSize<T>>(arguments, stream);
    } else {
      Launch<T, 1>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
