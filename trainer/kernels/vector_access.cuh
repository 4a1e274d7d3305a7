// Access to fp32, bf16 or fp16 elements, 16 bytes at a time, with conversion to fp32 for
// computation. Sums over warps and blocks in a fixed order. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_VECTOR_ACCESS_CUH_
#define TRAINYARD_TRAINER_KERNELS_VECTOR_ACCESS_CUH_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

inline constexpr int kWarpSize = 32;
inline constexpr int kVectorBytes = 16;

// The number of elements of type T in a 16-byte access.
template <typename T>
inline constexpr int kVectorSize = kVectorBytes / static_cast<int>(sizeof(T));

// Elements as stored in memory: as many as fit in 16 bytes, or a single element if the shape or the
// address does not permit wide accesses.
template <typename T, int kSize = kVectorSize<T>>
struct Vector {
  static_assert(kSize == 1 || kSize == kVectorSize<T>);
  using Bits = std::conditional_t<kSize == 1, T, uint4>;
  Bits bits;
};

// `address` must be aligned to the size of the vector.
template <int kSize, typename T>
__device__ __forceinline__ Vector<T, kSize> LoadVector(const T* address) {
  using Bits = typename Vector<T, kSize>::Bits;
  return {*reinterpret_cast<const Bits*>(address)};
}

// `address` must be in global memory and aligned to the size of the vector. Uses __stwb, because
// the compiler may split a plain store of four words into four stores. __stwb has the cache
// behavior of a plain store, but is never split.
template <typename T, int kSize>
__device__ __forceinline__ void StoreVector(T* address, const Vector<T, kSize>& vector) {
  if constexpr (kSize == 1) {
    *address = vector.bits;
  } else {
    __stwb(reinterpret_cast<uint4*>(address), vector.bits);
  }
}

// Unpacks the two 16-bit values of a word. The conversion is exact. A bf16 value is the upper half
// of the equal fp32 value.
template <typename T>
__device__ __forceinline__ void UnpackWord(uint32_t word, float* values) {
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 pair = {__ushort_as_half(static_cast<unsigned short>(word & 0xffffu)),
                          __ushort_as_half(static_cast<unsigned short>(word >> 16))};
    const float2 wide = __half22float2(pair);
    values[0] = wide.x;
    values[1] = wide.y;
  } else {
    values[0] = __uint_as_float(word << 16);
    values[1] = __uint_as_float(word & 0xffff0000u);
  }
}

// Rounds values[0] and values[1] to T, to nearest even. values[0] becomes the lower half of the
// word. In fp16, a value above 65,519 becomes infinite; the loss scale relies on this.
template <typename T>
__device__ __forceinline__ uint32_t PackWord(const float* values) {
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 pair = __floats2half2_rn(values[0], values[1]);
    return (static_cast<uint32_t>(__half_as_ushort(pair.y)) << 16) | __half_as_ushort(pair.x);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(values[0], values[1]);
    return (static_cast<uint32_t>(__bfloat16_as_ushort(pair.y)) << 16) |
           __bfloat16_as_ushort(pair.x);
  }
}

template <typename T, int kSize>
__device__ __forceinline__ void ToFloats(const Vector<T, kSize>& vector, float (&values)[kSize]) {
  if constexpr (kSize == 1) {
    values[0] = static_cast<float>(vector.bits);
  } else if constexpr (std::is_same_v<T, float>) {
    values[0] = __uint_as_float(vector.bits.x);
    values[1] = __uint_as_float(vector.bits.y);
    values[2] = __uint_as_float(vector.bits.z);
    values[3] = __uint_as_float(vector.bits.w);
  } else {
    UnpackWord<T>(vector.bits.x, values);
    UnpackWord<T>(vector.bits.y, values + 2);
    UnpackWord<T>(vector.bits.z, values + 4);
    UnpackWord<T>(vector.bits.w, values + 6);
  }
}

template <typename T, int kSize>
__device__ __forceinline__ Vector<T, kSize> FromFloats(const float (&values)[kSize]) {
  if constexpr (kSize == 1) {
    return {static_cast<T>(values[0])};
  } else if constexpr (std::is_same_v<T, float>) {
    return {make_uint4(__float_as_uint(values[0]), __float_as_uint(values[1]),
                       __float_as_uint(values[2]), __float_as_uint(values[3]))};
  } else {
    return {make_uint4(PackWord<T>(values), PackWord<T>(values + 2), PackWord<T>(values + 4),
                       PackWord<T>(values + 6))};
  }
}

// The number of elements per memory access if kSize elements are loaded or stored in total: one, or
// a whole vector.
template <typename T, int kSize>
inline constexpr int kAccessSize = kSize == 1 ? 1 : kVectorSize<T>;

// Loads kSize elements, either as whole vectors or as a single element, and converts them to fp32.
template <typename T, int kSize>
__device__ __forceinline__ void LoadFloats(const T* address, float (&values)[kSize]) {
  constexpr int kStep = kAccessSize<T, kSize>;
  static_assert(kSize % kStep == 0);
#pragma unroll
  for (int first = 0; first < kSize; first += kStep) {
    float part[kStep];
    ToFloats(LoadVector<kStep>(address + first), part);
#pragma unroll
    for (int i = 0; i < kStep; ++i) values[first + i] = part[i];
  }
}

// Rounds kSize fp32 values to T. Stores them as whole vectors or as a single element.
template <typename T, int kSize>
__device__ __forceinline__ void StoreFloats(T* address, const float (&values)[kSize]) {
  constexpr int kStep = kAccessSize<T, kSize>;
  static_assert(kSize % kStep == 0);
#pragma unroll
  for (int first = 0; first < kSize; first += kStep) {
    float part[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i) part[i] = values[first + i];
    StoreVector(address + first, FromFloats<T>(part));
  }
}

// Returns the sum over the lanes of a warp. Every lane gets the same bits. Every lane must call
// this function.
template <typename Value>
__device__ __forceinline__ Value WarpSum(Value value) {
  for (int step = kWarpSize / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, step);
  }
  return value;
}

template <typename Value>
__device__ __forceinline__ Value WarpMax(Value value) {
  for (int step = kWarpSize / 2; step > 0; step /= 2) {
    value = max(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
  return value;
}

// Returns the sum over a block of kThreads threads. Every thread gets the same bits. Every thread
// must call this function. No barrier is needed between consecutive calls.
template <int kThreads, typename Value>
__device__ __forceinline__ Value BlockSum(Value value) {
  static_assert(kThreads % kWarpSize == 0);
  constexpr int kWarps = kThreads / kWarpSize;
  value = WarpSum(value);
  if constexpr (kWarps == 1) return value;
  __shared__ Value warp_sums[kWarps];
  __syncthreads();  // Threads may still be reading the result of an earlier call.
  if (threadIdx.x % kWarpSize == 0) warp_sums[threadIdx.x / kWarpSize] = value;
  __syncthreads();
  value = warp_sums[0];
  for (int warp = 1; warp < kWarps; ++warp) value += warp_sums[warp];
  return value;
}

// Returns the maximum over a block of kThreads threads. The rules of BlockSum apply.
template <int kThreads, typename Value>
__device__ __forceinline__ Value BlockMax(Value value) {
  static_assert(kThreads % kWarpSize == 0);
  constexpr int kWarps = kThreads / kWarpSize;
  value = WarpMax(value);
  if constexpr (kWarps == 1) return value;
  __shared__ Value warp_maxima[kWarps];
  __syncthreads();  // Threads may still be reading the result of an earlier call.
  if (threadIdx.x % kWarpSize == 0) warp_maxima[threadIdx.x / kWarpSize] = value;
  __syncthreads();
  value = warp_maxima[0];
  for (int warp = 1; warp < kWarps; ++warp) value = max(value, warp_maxima[warp]);
  return value;
}

// Calls function(std::type_identity<T>{}), where T is the C++ type for `type`. Throws KernelError for
// FP8 types.
template <typename Function>
void DispatchType(ElementType type, Function&& function) {
  switch (type) {
    case ElementType::kFloat32:
      return std::forward<Function>(function)(std::type_identity<float>{});
    case ElementType::kBFloat16:
      return std::forward<Function>(function)(std::type_identity<__nv_bfloat16>{});
    case ElementType::kFloat16:
      return std::forward<Function>(function)(std::type_identity<__half>{});
    case ElementType::kFp8E4M3:
    case ElementType::kFp8E5M2:
      break;
  }
  throw KernelError("this kernel has no version for FP8 elements");
}

// True if every row can be accessed in whole, aligned vectors. A row has `width` elements of type
// T; the matrices begin at `addresses`. Null addresses are ignored.
template <typename T>
bool TakesVectors(int64_t width, std::initializer_list<const void*> addresses) {
  for (const void* address : addresses) {
    if (reinterpret_cast<uintptr_t>(address) % kVectorBytes != 0) return false;
  }
  return width % kVectorSize<T> == 0;
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_VECTOR_ACCESS_CUH_
