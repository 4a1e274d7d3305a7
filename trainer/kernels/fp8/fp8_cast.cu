#include "trainer/kernels/fp8/fp8_cast.h"

#include <algorithm>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/fp8/fp8_tile.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int64_t kElementBlocks = 1056;  // 8 on each multiprocessor of an H200.
constexpr int kTileBlocks = 8;            // On a multiprocessor, at least.

// The elements of a thread in memory: one unit of each row.
template <typename T>
using LoadedRows = LoadedUnit<T>[kFp8ThreadRows];

// Loads zeros instead of rows from `rows` on.
template <typename T>
__device__ __forceinline__ void LoadRows(const T* x, int64_t rows, int64_t width,
                                         LoadedRows<T>& loaded) {
#pragma unroll
  for (int row = 0; row < kFp8ThreadRows; ++row) {
#pragma unroll
    for (int i = 0; i < kFp8Unit / kVectorSize<T>; ++i) {
      loaded[row][i] = row < rows ? LoadVector<kVectorSize<T>>(x + row * width + i * kVectorSize<T>)
                                  : Vector<T>{};
    }
  }
}

// Returns the bits of the largest magnitude.
template <__nv_fp8_interpretation_t kFormat, typename T>
__device__ __forceinline__ uint32_t RoundRows(const LoadedRows<T>& loaded, float scale,
                                              Fp8Rows& words) {
  constexpr int kSize = kVectorSize<T>;
  uint32_t largest = 0;
#pragma unroll
  for (int row = 0; row < kFp8ThreadRows; ++row) {
#pragma unroll
    for (int i = 0; i < kFp8Unit / kSize; ++i) {
      float values[kSize];
      ToFloats(loaded[row][i], values);
      largest = max(largest, RoundToFp8<kFormat>(values, scale, words[row] + i * kSize / 4));
    }
  }
  return largest;
}

template <typename T, __nv_fp8_interpretation_t kFormat>
__global__ void __launch_bounds__(kFp8Threads, kTileBlocks)
    CastTileKernel(Fp8CastArguments arguments, int across) {
  __shared__ Fp8Tile tile;
  const float scale = *arguments.scale;
  StoreInverseScale(arguments.inverse_scale, scale);
  const TileOrigin origin = {static_cast<int64_t>(blockIdx.x) / across * kFp8Tile,
                             static_cast<int64_t>(blockIdx.x) % across * kFp8Tile};
  const ThreadPlace place;
  const int64_t row = origin.row + place.row(), column = origin.column + place.column;
  const Fp8Outputs outputs = {arguments.rows_out, arguments.columns_out, arguments.rows,
                              arguments.width, arguments.width};
  const int64_t rows = column < arguments.width ? arguments.rows - row : 0;
  LoadedRows<T> loaded;
  LoadRows(static_cast<const T*>(arguments.x) + row * arguments.width + column, rows,
           arguments.width, loaded);
  Fp8Rows words;
  const uint32_t largest = RoundRows<kFormat, T>(loaded, scale, words);
  StoreRows(outputs, row, column, rows, words);
  if (outputs.columns_out != nullptr) {
    StoreInTile(words, place, tile);
    __syncthreads();
    StoreColumns(outputs, origin, tile);
  }
  if (arguments.amax != nullptr) RaiseAmaxByBlock<kFp8Threads>(largest, arguments.amax);
}

// Copies element by element, for shapes and addresses without wide accesses.
template <typename T, __nv_fp8_interpretation_t kFormat>
__global__ void __launch_bounds__(kFp8Threads) CastElementsKernel(Fp8CastArguments arguments) {
  const float scale = *arguments.scale;
  StoreInverseScale(arguments.inverse_scale, scale);
  const int64_t count = arguments.rows * arguments.width;
  uint32_t largest = 0;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kFp8Threads + threadIdx.x; i < count;
       i += static_cast<int64_t>(gridDim.x) * kFp8Threads) {
    const float value = static_cast<float>(static_cast<const T*>(arguments.x)[i]);
    largest = max(largest, MagnitudeBits(value));
    const uint8_t element = __nv_cvt_float_to_fp8(value * scale, __NV_SATFINITE, kFormat);
    if (arguments.rows_out != nullptr) arguments.rows_out[i] = element;
    if (arguments.columns_out != nullptr) {
      const int64_t row = i / arguments.width, column = i % arguments.width;
      arguments.columns_out[column * arguments.rows + row] = element;
    }
  }
  if (arguments.amax != nullptr) RaiseAmaxByBlock<kFp8Threads>(largest, arguments.amax);
}

bool TakesTiles(const Fp8CastArguments& arguments) {
  for (const void* address : {arguments.x, static_cast<const void*>(arguments.rows_out),
                              static_cast<const void*>(arguments.columns_out)}) {
    if (reinterpret_cast<uintptr_t>(address) % kVectorBytes != 0) return false;
  }
  const bool has_columns = arguments.columns_out != nullptr;
  return arguments.rows > 0 && arguments.width > 0 && arguments.width % kFp8Unit == 0 &&
         (!has_columns || arguments.rows % kFp8Unit == 0);
}

template <typename T, __nv_fp8_interpretation_t kFormat>
void LaunchCast(const Fp8CastArguments& arguments, cudaStream_t stream) {
  if (TakesTiles(arguments)) {
    const int64_t across = (arguments.width + kFp8Tile - 1) / kFp8Tile;
    const int64_t tiles = across * ((arguments.rows + kFp8Tile - 1) / kFp8Tile);
    CastTileKernel<T, kFormat><<<static_cast<unsigned>(tiles), kFp8Threads, 0, stream>>>(
        arguments, static_cast<int>(across));
  } else {
    // One block computes 1 / scale even if there are no elements.
    const int64_t blocks = std::clamp<int64_t>(
        (arguments.rows * arguments.width + kFp8Threads - 1) / kFp8Threads, 1, kElementBlocks);
    CastElementsKernel<T, kFormat>
        <<<static_cast<unsigned>(blocks), kFp8Threads, 0, stream>>>(arguments);
  }
  CheckLaunch("CastToFp8");
}

}  // namespace

void CastToFp8(const Fp8CastArguments& arguments, cudaStream_t stream) {
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (arguments.fp8_type == ElementType::kFp8E5M2) {
      LaunchCast<T, __NV_E5M2>(arguments, stream);
    } else {
      LaunchCast<T, __NV_E4M3>(arguments, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
