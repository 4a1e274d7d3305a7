// Casts tiles of a matrix to FP8, in both arrangements. For .cu files only.
#ifndef TRAINYARD_TRAINER_KERNELS_FP8_FP8_TILE_CUH_
#define TRAINYARD_TRAINER_KERNELS_FP8_FP8_TILE_CUH_

#include <cuda_fp8.h>

#include <cstdint>

#include "trainer/kernels/fp8/fp8_amax.cuh"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {

// A block of kFp8Threads threads casts a square tile with kFp8Tile rows and columns. A row of the
// tile is 128 bytes in either output, which is a whole line of the cache.
inline constexpr int kFp8Threads = 256;
inline constexpr int kFp8Tile = 128;
// The number of elements in a store. A unit is 16 elements of a row or of a column.
inline constexpr int kFp8Unit = kVectorBytes;
inline constexpr int kFp8TileUnits = kFp8Tile / kFp8Unit;
// A thread casts one unit of each of 4 rows. Their bytes form words of the columns.
inline constexpr int kFp8ThreadRows = 4;

// The columns of a tile, in shared memory.
using Fp8Tile = uint4[kFp8Tile * kFp8TileUnits];

// Rounds four numbers to FP8. The first becomes the lowest byte.
template <__nv_fp8_interpretation_t kFormat>
__device__ __forceinline__ uint32_t PackFp8(float a, float b, float c, float d) {
  const uint32_t low = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, kFormat);
  const uint32_t high = __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, kFormat);
  return low | (high << 16);
}

// A unit of a row in memory.
template <typename T>
using LoadedUnit = Vector<T>[kFp8Unit / kVectorSize<T>];

template <typename T>
__device__ __forceinline__ void LoadUnit(const T* x, LoadedUnit<T>& unit) {
#pragma unroll
  for (int i = 0; i < kFp8Unit / kVectorSize<T>; ++i) {
    unit[i] = LoadVector<kVectorSize<T>>(x + i * kVectorSize<T>);
  }
}

template <typename T>
__device__ __forceinline__ void UnitToFloats(const LoadedUnit<T>& unit, float (&values)[kFp8Unit]) {
#pragma unroll
  for (int i = 0; i < kFp8Unit / kVectorSize<T>; ++i) {
    float part[kVectorSize<T>];
    ToFloats(unit[i], part);
#pragma unroll
    for (int e = 0; e < kVectorSize<T>; ++e) values[i * kVectorSize<T> + e] = part[e];
  }
}

// The FP8 elements of a unit: word i has elements 4 * i to 4 * i + 3. Fp8Rows: those of a thread.
using Fp8Words = uint32_t[kFp8Unit / 4];
using Fp8Rows = Fp8Words[kFp8ThreadRows];

// Rounds values * scale to the first kCount / 4 words. Returns the bits of the largest magnitude of
// the values.
template <__nv_fp8_interpretation_t kFormat, int kCount>
__device__ __forceinline__ uint32_t RoundToFp8(const float (&values)[kCount], float scale,
                                               uint32_t* words) {
  uint32_t largest = 0;
#pragma unroll
  for (int e = 0; e < kCount; e += 4) {
#pragma unroll
    for (int k = 0; k < 4; ++k) largest = max(largest, MagnitudeBits(values[e + k]));
    words[e / 4] = PackFp8<kFormat>(values[e] * scale, values[e + 1] * scale, values[e + 2] * scale,
                                    values[e + 3] * scale);
  }
  return largest;
}

// Transposes 4 x 4 bytes. Word k of the result has byte k of each argument, first argument lowest.
__device__ __forceinline__ void TransposeBytes(const uint32_t (&rows)[kFp8ThreadRows],
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
  return column * kFp8TileUnits + (unit ^ (column / kFp8Unit % kFp8TileUnits));
}

// A warp casts 16 rows, which are one unit of each column: 8 threads share a row, and 4 groups of
// them cast 4 rows each.
struct ThreadPlace {
  int row_unit = threadIdx.x / kWarpSize;
  int row_group = threadIdx.x % kWarpSize / kFp8TileUnits;
  int column = threadIdx.x % kFp8TileUnits * kFp8Unit;
  __device__ int row() const { return row_unit * kFp8Unit + row_group * kFp8ThreadRows; }
};
static_assert(kFp8Threads / kWarpSize == kFp8TileUnits);
static_assert(kWarpSize / kFp8TileUnits * kFp8ThreadRows == kFp8Unit);

// A matrix [rows, width] in FP8, or some of the columns of a wider matrix.
struct Fp8Outputs {
  uint8_t* rows_out = nullptr;     // Its first row, or null. Rows are `stride` bytes apart.
  uint8_t* columns_out = nullptr;  // [width, rows], or null.
  int64_t rows = 0;
  int64_t width = 0;
  int64_t stride = 0;
};

// The tile of a block, and the first row and column of the matrix in it.
struct TileOrigin {
  int64_t row = 0;
  int64_t column = 0;
};

// Stores the thread's elements, whose first is [row, column] of the matrix. Rows from `rows` on do
// not exist.
__device__ __forceinline__ void StoreRows(const Fp8Outputs& outputs, int64_t row, int64_t column,
                                          int64_t rows, const Fp8Rows& words) {
  if (outputs.rows_out == nullptr) return;
#pragma unroll
  for (int i = 0; i < kFp8ThreadRows; ++i) {
    if (i >= rows) break;
    __stwb(reinterpret_cast<uint4*>(outputs.rows_out + (row + i) * outputs.stride + column),
           make_uint4(words[i][0], words[i][1], words[i][2], words[i][3]));
  }
}

__device__ __forceinline__ void StoreInTile(const Fp8Rows& words, const ThreadPlace& place,
                                            Fp8Tile& tile) {
#pragma unroll
  for (int i = 0; i < kFp8Unit / 4; ++i) {
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

// Copies the columns of the tile. Every thread of the block must have stored its elements.
__device__ __forceinline__ void StoreColumns(const Fp8Outputs& outputs, const TileOrigin& origin,
                                             const Fp8Tile& tile) {
#pragma unroll
  for (int i = threadIdx.x; i < kFp8Tile * kFp8TileUnits; i += kFp8Threads) {
    const int64_t column = origin.column + i / kFp8TileUnits;
    const int64_t row = origin.row + i % kFp8TileUnits * kFp8Unit;
    if (column >= outputs.width || row >= outputs.rows) continue;
    __stwb(reinterpret_cast<uint4*>(outputs.columns_out + column * outputs.rows + row),
           tile[TilePlace(i / kFp8TileUnits, i % kFp8TileUnits)]);
  }
}

__device__ __forceinline__ void StoreInverseScale(float* inverse_scale, float scale) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *inverse_scale = 1.0f / scale;
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_FP8_FP8_TILE_CUH_
