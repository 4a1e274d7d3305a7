#include "trainer/kernels/fp8_cast.h"

#include <cuda_fp8.h>

#include <algorithm>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/fp8_amax.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;
// A block copies a square tile with this many rows and columns. A row of the tile is 128 bytes in
// either output, which is a whole line of the cache.
constexpr int kTile = 128;
// The number of elements in a store. A unit is 16 elements of a row or of a column.
constexpr int kUnit = kVectorBytes;
constexpr int kTileUnits = kTile / kUnit;
// A thread copies one unit of each of 4 rows. Their bytes form words of the columns.
constexpr int kThreadRows = 4;
constexpr int64_t kElementBlocks = 1056;  // 8 on each multiprocessor of an H200.

// Rounds four numbers to FP8. The first becomes the lowest byte.
template <__nv_fp8_interpretation_t kFormat>
__device__ __forceinline__ uint32_t PackFp8(float a, float b, float c, float d) {
  const uint32_t low = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, kFormat);
  const uint32_t high = __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, kFormat);
  return low | (high << 16);
}

// The elements of a thread in memory: one unit of each row.
template <typename T>
using LoadedRows = Vector<T>[kThreadRows][kUnit / kVectorSize<T>];

// Loads zeros instead of rows from `rows` on.
template <typename T>
__device__ __forceinline__ void LoadRows(const T* x, int64_t rows, int64_t width,
                                         LoadedRows<T>& loaded) {
#pragma unroll
  for (int row = 0; row < kThreadRows; ++row) {
#pragma unroll
    for (int i = 0; i < kUnit / kVectorSize<T>; ++i) {
      loaded[row][i] = row < rows ? LoadVector<kVectorSize<T>>(x + row * width + i * kVectorSize<T>)
                                  : Vector<T>{};
    }
  }
}

// The FP8 elements of a thread: word i of a row has columns 4 * i to 4 * i + 3.
using Fp8Rows = uint32_t[kThreadRows][kUnit / 4];

// Returns the bits of the largest magnitude.
template <__nv_fp8_interpretation_t kFormat, typename T>
__device__ __forceinline__ uint32_t RoundRows(const LoadedRows<T>& loaded, float scale,
                                              Fp8Rows& words) {
  uint32_t largest = 0;
#pragma unroll
  for (int row = 0; row < kThreadRows; ++row) {
#pragma unroll
    for (int i = 0; i < kUnit / kVectorSize<T>; ++i) {
      float values[kVectorSize<T>];
      ToFloats(loaded[row][i], values);
#pragma unroll
      for (float& value : values) {
        largest = max(largest, MagnitudeBits(value));
        value *= scale;
      }
#pragma unroll
      for (int e = 0; e < kVectorSize<T>; e += 4) {
        words[row][(i * kVectorSize<T> + e) / 4] =
            PackFp8<kFormat>(values[e], values[e + 1], values[e + 2], values[e + 3]);
      }
    }
  }
  return largest;
}

// Transposes 4 x 4 bytes. Word k of the result has byte k of each argument, first argument lowest.
__device__ __forceinline__ void TransposeBytes(const uint32_t (&rows)[kThreadRows],
                                               uint32_t (&columns)[4]) {
  const uint32_t low01 = __byte_perm(rows[0], rows[1], 0x5140);   // Bytes 0 and 1 of both rows.
  const uint32_t high01 = __byte_perm(rows[0], rows[1], 0x7362);  // Bytes 2 and 3.
  const uint32_t low23 = __byte_perm(rows[2], rows[3], 0x5140);
  const uint32_t high23 = __byte_perm(rows[2], rows[3], 0x7362);
  columns[0] = __byte_perm(low01, low23, 0x5410);
  columns[1] = __byte_perm(low01, low23, 0x7632);
  columns[2] = __byte_perm(high01, high23, 0x5410);
  columns[3] = __byte_perm(high01, high23, 0x7632);
}

// Returns the place of a unit of a column in the tile. Without the exclusive or, threads of a warp
// that write units of different columns would use the same banks of shared memory.
__device__ __forceinline__ int TilePlace(int column, int unit) {
  return column * kTileUnits + (unit ^ (column / kUnit % kTileUnits));
}

// A warp copies 16 rows, which are one unit of each column: 8 threads share a row, and 4 groups of
// them copy 4 rows each.
struct ThreadPlace {
  int row_unit = threadIdx.x / kWarpSize;
  int row_group = threadIdx.x % kWarpSize / kTileUnits;
  int column = threadIdx.x % kTileUnits * kUnit;
  __device__ int row() const { return row_unit * kUnit + row_group * kThreadRows; }
};
static_assert(kThreads / kWarpSize == kTileUnits);
static_assert(kWarpSize / kTileUnits * kThreadRows == kUnit);

__device__ __forceinline__ void StoreInTile(const Fp8Rows& words, const ThreadPlace& place,
                                            uint4* tile) {
#pragma unroll
  for (int i = 0; i < kUnit / 4; ++i) {
    const uint32_t rows[] = {words[0][i], words[1][i], words[2][i], words[3][i]};
    uint32_t columns[4];
    TransposeBytes(rows, columns);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      uint4* unit = tile + TilePlace(place.column + 4 * i + k, place.row_unit);
      reinterpret_cast<uint32_t*>(unit)[place.row_group] = columns[k];
    }
  }
}

// Copies the columns of the tile whose first element is [first_row, first_column].
__device__ __forceinline__ void StoreColumns(const Fp8CastArguments& arguments, int64_t first_row,
                                             int64_t first_column, const uint4* tile) {
#pragma unroll
  for (int i = threadIdx.x; i < kTile * kTileUnits; i += kThreads) {
    const int64_t column = first_column + i / kTileUnits;
    const int64_t row = first_row + i % kTileUnits * kUnit;
    if (column >= arguments.width || row >= arguments.rows) continue;
    __stwb(reinterpret_cast<uint4*>(arguments.columns_out + column * arguments.rows + row),
           tile[TilePlace(i / kTileUnits, i % kTileUnits)]);
  }
}

__device__ __forceinline__ void StoreInverseScale(const Fp8CastArguments& arguments, float scale) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *arguments.inverse_scale = 1.0f / scale;
}

template <typename T, __nv_fp8_interpretation_t kFormat>
__global__ void __launch_bounds__(kThreads) CastTileKernel(Fp8CastArguments arguments, int across) {
  __shared__ uint4 tile[kTile * kTileUnits];
  const float scale = *arguments.scale;
  StoreInverseScale(arguments, scale);
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) / across * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) % across * kTile;
  const ThreadPlace place;
  const int64_t row = first_row + place.row(), column = first_column + place.column;
  const int64_t rows = column < arguments.width ? arguments.rows - row : 0;
  LoadedRows<T> loaded;
  LoadRows(static_cast<const T*>(arguments.x) + row * arguments.width + column, rows,
           arguments.width, loaded);
  Fp8Rows words;
  const uint32_t largest = RoundRows<kFormat, T>(loaded, scale, words);
  if (arguments.rows_out != nullptr) {
#pragma unroll
    for (int i = 0; i < kThreadRows; ++i) {
      if (i >= rows) break;
      __stwb(reinterpret_cast<uint4*>(arguments.rows_out + (row + i) * arguments.width + column),
             make_uint4(words[i][0], words[i][1], words[i][2], words[i][3]));
    }
  }
  if (arguments.columns_out != nullptr) {
    StoreInTile(words, place, tile);
    __syncthreads();
    StoreColumns(arguments, first_row, first_column, tile);
  }
  if (arguments.amax != nullptr) RaiseAmaxByBlock<kThreads>(largest, arguments.amax);
}

// Copies element by element, for shapes and addresses without wide accesses.
template <typename T, __nv_fp8_interpretation_t kFormat>
__global__ void __launch_bounds__(kThreads) CastElementsKernel(Fp8CastArguments arguments) {
  const float scale = *arguments.scale;
  StoreInverseScale(arguments, scale);
  const int64_t count = arguments.rows * arguments.width;
  uint32_t largest = 0;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count;
       i += static_cast<int64_t>(gridDim.x) * kThreads) {
    const float value = static_cast<float>(static_cast<const T*>(arguments.x)[i]);
    largest = max(largest, MagnitudeBits(value));
    const uint8_t element = __nv_cvt_float_to_fp8(value * scale, __NV_SATFINITE, kFormat);
    if (arguments.rows_out != nullptr) arguments.rows_out[i] = element;
    if (arguments.columns_out != nullptr) {
      const int64_t row = i / arguments.width, column = i % arguments.width;
      arguments.columns_out[column * arguments.rows + row] = element;
    }
  }
  if (arguments.amax != nullptr) RaiseAmaxByBlock<kThreads>(largest, arguments.amax);
}

bool TakesTiles(const Fp8CastArguments& arguments) {
  for (const void* address : {arguments.x, static_cast<const void*>(arguments.rows_out),
                              static_cast<const void*>(arguments.columns_out)}) {
    if (reinterpret_cast<uintptr_t>(address) % kVectorBytes != 0) return false;
  }
  const bool has_columns = arguments.columns_out != nullptr;
  return arguments.rows > 0 && arguments.width > 0 && arguments.width % kUnit == 0 &&
         (!has_columns || arguments.rows % kUnit == 0);
}

template <typename T, __nv_fp8_interpretation_t kFormat>
void LaunchCast(const Fp8CastArguments& arguments, cudaStream_t stream) {
  if (TakesTiles(arguments)) {
    const int64_t across = (arguments.width + kTile - 1) / kTile;
    const int64_t tiles = across * ((arguments.rows + kTile - 1) / kTile);
    CastTileKernel<T, kFormat><<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(
        arguments, static_cast<int>(across));
  } else {
    // One block computes 1 / scale even if there are no elements.
    const int64_t blocks = std::clamp<int64_t>(
        (arguments.rows * arguments.width + kThreads - 1) / kThreads, 1, kElementBlocks);
    CastElementsKernel<T, kFormat>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(arguments);
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
