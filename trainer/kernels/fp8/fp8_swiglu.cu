#include "trainer/kernels/fp8/fp8_swiglu.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/fp8/fp8_tile.cuh"
#include "trainer/kernels/swiglu.cuh"

namespace trainyard::trainer::kernels {
namespace {

// The place of a thread's elements in the matrix [rows, width]. `rows`: how many of them exist.
struct ElementPlace {
  ThreadPlace thread;
  TileOrigin origin;
  int64_t row = 0;
  int64_t column = 0;
  int64_t rows = 0;

  __device__ ElementPlace(int64_t all_rows, int64_t width) {
    const int64_t across = (width + kFp8Tile - 1) / kFp8Tile;
    origin = {blockIdx.x / across * kFp8Tile, blockIdx.x % across * kFp8Tile};
    row = origin.row + thread.row();
    column = origin.column + thread.column;
    rows = column < width ? all_rows - row : 0;
  }
};

// Rounds to T, as if the numbers had been stored.
template <typename T>
__device__ __forceinline__ void RoundTo(float (&values)[kFp8Unit]) {
#pragma unroll
  for (float& value : values) value = static_cast<float>(static_cast<T>(value));
}

template <typename T, __nv_fp8_interpretation_t kFormat>
__global__ void __launch_bounds__(kFp8Threads, 3)
    ForwardKernel(Fp8SwiGluForwardArguments arguments) {
  __shared__ Fp8Tile tile;
  const Fp8Target& out = arguments.out;
  const int64_t width = arguments.width;
  const float scale = *out.scale;
  StoreInverseScale(out.inverse_scale, scale);
  const ElementPlace place(arguments.rows, width);
  const T* packed = static_cast<const T*>(arguments.packed) + place.row * 2 * width + place.column;
  Fp8Rows words = {};
  uint32_t largest = 0;
#pragma unroll
  for (int i = 0; i < kFp8ThreadRows; ++i) {
    if (i >= place.rows) break;
    LoadedUnit<T> units[2];
    LoadUnit(packed + i * 2 * width, units[0]);
    LoadUnit(packed + i * 2 * width + width, units[1]);
    float gate[kFp8Unit], up[kFp8Unit];
    UnitToFloats<T>(units[0], gate);
    UnitToFloats<T>(units[1], up);
#pragma unroll
    for (int e = 0; e < kFp8Unit; ++e) up[e] *= gate[e] * Sigmoid<T>(gate[e]);
    RoundTo<T>(up);
    largest = max(largest, RoundToFp8<kFormat>(up, scale, words[i]));
  }
  const Fp8Outputs outputs = {out.rows_out, out.columns_out, arguments.rows, width, width};
  StoreRows(outputs, place.row, place.column, place.rows, words);
  if (outputs.columns_out != nullptr) {
    StoreInTile(words, place.thread, tile);
    __syncthreads();
    StoreColumns(outputs, place.origin, tile);
  }
  if (out.amax != nullptr) RaiseAmaxByBlock<kFp8Threads>(largest, out.amax);
}

// The gradients of the gates, or those of the ups, which follow in a row of d_packed.
__device__ __forceinline__ Fp8Outputs HalfOf(const Fp8SwiGluBackwardArguments& arguments,
                                             int half) {
  const Fp8Target& all = arguments.d_packed;
  const int64_t first = half * arguments.width;
  return {all.rows_out == nullptr ? nullptr : all.rows_out + first,
          all.columns_out == nullptr ? nullptr : all.columns_out + first * arguments.rows,
          arguments.rows, arguments.width, 2 * arguments.width};
}

template <typename T, __nv_fp8_interpretation_t kFormat>
__global__ void __launch_bounds__(kFp8Threads, 2)
    BackwardKernel(Fp8SwiGluBackwardArguments arguments) {
  __shared__ Fp8Tile tiles[2];
  const int64_t width = arguments.width;
  const float scale = *arguments.d_packed.scale;
  StoreInverseScale(arguments.d_packed.inverse_scale, scale);
  const ElementPlace place(arguments.rows, width);
  const T* douts = static_cast<const T*>(arguments.dout) + place.row * width + place.column;
  const T* packed = static_cast<const T*>(arguments.packed) + place.row * 2 * width + place.column;
  Fp8Rows words[2] = {};  // First the gates, then the ups.
  uint32_t largest = 0;
#pragma unroll
  for (int i = 0; i < kFp8ThreadRows; ++i) {
    if (i >= place.rows) break;
    LoadedUnit<T> units[3];
    LoadUnit(douts + i * width, units[0]);
    LoadUnit(packed + i * 2 * width, units[1]);
    LoadUnit(packed + i * 2 * width + width, units[2]);
    float dout[kFp8Unit], gate[kFp8Unit], up[kFp8Unit];
    UnitToFloats<T>(units[0], dout);
    UnitToFloats<T>(units[1], gate);
    UnitToFloats<T>(units[2], up);
    ReplaceByGradients<T>(dout, gate, up);
    RoundTo<T>(gate);
    RoundTo<T>(up);
    largest = max(largest, RoundToFp8<kFormat>(gate, scale, words[0][i]));
    largest = max(largest, RoundToFp8<kFormat>(up, scale, words[1][i]));
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    StoreRows(HalfOf(arguments, half), place.row, place.column, place.rows, words[half]);
    StoreInTile(words[half], place.thread, tiles[half]);
  }
  __syncthreads();
  if (arguments.d_packed.columns_out != nullptr) {
    for (int half = 0; half < 2; ++half) {
      StoreColumns(HalfOf(arguments, half), place.origin, tiles[half]);
    }
  }
  if (arguments.d_packed.amax != nullptr) {
    RaiseAmaxByBlock<kFp8Threads>(largest, arguments.d_packed.amax);
  }
}

unsigned Tiles(int64_t rows, int64_t width) {
  const int64_t down = (rows + kFp8Tile - 1) / kFp8Tile;
  const int64_t across = (width + kFp8Tile - 1) / kFp8Tile;
  // One block computes 1 / scale even if there are no elements.
  return static_cast<unsigned>(max(down * across, int64_t{1}));
}

void CheckForm(int64_t rows, int64_t width, std::initializer_list<const void*> addresses) {
  if (rows % kFp8Unit != 0 || width % kFp8Unit != 0 || width == 0) {
    throw KernelError("SwiGLU in FP8 needs sizes that are multiples of 16");
  }
  for (const void* address : addresses) {
    if (reinterpret_cast<uintptr_t>(address) % kVectorBytes != 0) {
      throw KernelError("SwiGLU in FP8 needs addresses that are multiples of 16");
    }
  }
}

}  // namespace

void Fp8SwiGluForward(const Fp8SwiGluForwardArguments& arguments, cudaStream_t stream) {
  CheckForm(arguments.rows, arguments.width,
            {arguments.packed, arguments.out.rows_out, arguments.out.columns_out});
  const unsigned tiles = Tiles(arguments.rows, arguments.width);
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (arguments.out.type == ElementType::kFp8E5M2) {
      ForwardKernel<T, __NV_E5M2><<<tiles, kFp8Threads, 0, stream>>>(arguments);
    } else {
      ForwardKernel<T, __NV_E4M3><<<tiles, kFp8Threads, 0, stream>>>(arguments);
    }
  });
  CheckLaunch("Fp8SwiGluForward");
}

void Fp8SwiGluBackward(const Fp8SwiGluBackwardArguments& arguments, cudaStream_t stream) {
  CheckForm(arguments.rows, arguments.width,
            {arguments.dout, arguments.packed, arguments.d_packed.rows_out,
             arguments.d_packed.columns_out});
  const unsigned tiles = Tiles(arguments.rows, arguments.width);
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (arguments.d_packed.type == ElementType::kFp8E5M2) {
      BackwardKernel<T, __NV_E5M2><<<tiles, kFp8Threads, 0, stream>>>(arguments);
    } else {
      BackwardKernel<T, __NV_E4M3><<<tiles, kFp8Threads, 0, stream>>>(arguments);
    }
  });
  CheckLaunch("Fp8SwiGluBackward");
}

}  // namespace trainyard::trainer::kernels
