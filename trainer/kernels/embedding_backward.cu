#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <limits>
#include <type_traits>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/embedding.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kSortThreads = 256;
// The number of rows of dy, sorted by token, that one block adds. The number is small, so that the
// rows of a frequent token are divided among many blocks.
constexpr int kChunkRows = 32;
// The number of rows that a thread loads before it adds the first. This number keeps enough loads
// in flight to hide memory latency.
constexpr int kThreadRows = 4;
// The number of threads in a block. Each thread processes the same columns in all rows of the
// chunk.
constexpr int kSliceThreads = 128;
// The number of partial sums that a thread loads before it adds the first.
constexpr int kThreadPartials = 16;
// The key of a token outside the table, of the position before the first row, and of the position
// after the last row. Larger than any row number of the table.
constexpr uint32_t kNoToken = 0xffffffffu;

// The rows of dy, sorted by the table row of their token. Rows whose token is outside the table
// come last. Rows with the same token keep their order. A run consists of the rows of one token. A
// part of a run consists of its rows within one chunk.
struct SortedRows {
  const uint32_t* tokens;  // Equals table_rows for every token outside the table.
  const int32_t* rows;
  int64_t count;
  uint32_t table_rows;

  __device__ uint32_t Token(int64_t position) const {
    if (position < 0 || position >= count) return kNoToken;
    const uint32_t token = tokens[position];
    return token < table_rows ? token : kNoToken;
  }
};

// The sums of the parts of runs that cross a chunk boundary. A chunk has at most two such parts: a
// first part, if its run began in an earlier chunk, and a last part, if its run begins here and
// continues in the next chunk.
struct Partials {
  float* sums;  // [chunks, 2, width]
  int64_t width;

  __device__ float* FromBefore(int64_t chunk) const { return sums + 2 * chunk * width; }
  __device__ float* Beginning(int64_t chunk) const { return sums + (2 * chunk + 1) * width; }
};

// The offset in bytes of each part of the workspace. Each offset is a multiple of 256.
struct WorkspaceLayout {
  size_t tokens = 0;
  size_t rows = 0;
  size_t sorted_tokens = 0;
  size_t sorted_rows = 0;
  size_t partials = 0;
  size_t sort = 0;
  size_t sort_bytes = 0;
  size_t end = 0;
};

int64_t CeilDivide(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// Returns the number of workspace bytes that the sort needs besides its inputs and outputs, for
// keys of any width.
size_t SortBytes(int64_t rows) {
  size_t bytes = 0;
  CheckCuda(cub::DeviceRadixSort::SortPairs<uint32_t, int32_t>(
                nullptr, bytes, nullptr, nullptr, nullptr, nullptr, static_cast<int>(rows)),
            "EmbeddingBackward: size of the sort");
  return bytes;
}

WorkspaceLayout LayoutFor(int64_t rows, int64_t width) {
  if (rows > std::numeric_limits<int32_t>::max()) {
    throw KernelError("EmbeddingBackward: too many rows");
  }
  WorkspaceLayout layout;
  const auto take = [&](size_t bytes) {
    constexpr size_t kAlignment = 256;
    const size_t offset = layout.end;
    layout.end += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  };
  const auto row_bytes = static_cast<size_t>(rows) * sizeof(uint32_t);
  layout.tokens = take(row_bytes);
  layout.rows = take(row_bytes);
  layout.sorted_tokens = take(row_bytes);
  layout.sorted_rows = take(row_bytes);
  layout.partials = take(CeilDivide(rows, kChunkRows) * 2 * width * sizeof(float));
  layout.sort_bytes = SortBytes(rows);
  layout.sort = take(layout.sort_bytes);
  return layout;
}

__global__ void __launch_bounds__(kSortThreads)
    NumberRowsKernel(EmbeddingBackwardArguments arguments, uint32_t* keys, int32_t* rows) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kSortThreads + threadIdx.x;
  if (row >= arguments.rows) return;
  const int64_t place = arguments.tokens[row] - arguments.first_token;
  const bool is_inside = place >= 0 && place < arguments.table_rows;
  keys[row] = static_cast<uint32_t>(is_inside ? place : arguments.table_rows);
  rows[row] = static_cast<int32_t>(row);
}

SortedRows SortRows(const EmbeddingBackwardArguments& arguments, const WorkspaceLayout& layout,
                    cudaStream_t stream) {
  char* workspace = static_cast<char*>(arguments.workspace);
  auto* tokens = reinterpret_cast<uint32_t*>(workspace + layout.tokens);
  auto* rows = reinterpret_cast<int32_t*>(workspace + layout.rows);
  auto* sorted_tokens = reinterpret_cast<uint32_t*>(workspace + layout.sorted_tokens);
  auto* sorted_rows = reinterpret_cast<int32_t*>(workspace + layout.sorted_rows);
  const auto blocks = static_cast<unsigned>(CeilDivide(arguments.rows, kSortThreads));
  NumberRowsKernel<<<blocks, kSortThreads, 0, stream>>>(arguments, tokens, rows);
  CheckLaunch("EmbeddingBackward: number rows");
  const auto largest_key = static_cast<uint32_t>(arguments.table_rows);
  const int key_bits = std::max(static_cast<int>(std::bit_width(largest_key)), 1);
  size_t sort_bytes = layout.sort_bytes;
  CheckCuda(cub::DeviceRadixSort::SortPairs(workspace + layout.sort, sort_bytes, tokens,
                                            sorted_tokens, rows, sorted_rows,
                                            static_cast<int>(arguments.rows), 0, key_bits, stream),
            "EmbeddingBackward: sort");
  return {sorted_tokens, sorted_rows, arguments.rows, largest_key};
}

template <int kColumns>
__device__ __forceinline__ int64_t FirstColumn() {
  return (static_cast<int64_t>(blockIdx.y) * kSliceThreads + threadIdx.x) * kColumns;
}

// Adds to memory without atomic operations: no other thread of the launch may add to the same
// address.
template <int kColumns>
__device__ __forceinline__ void AddTo(float* address, const float (&sums)[kColumns]) {
  float values[kColumns];
  LoadFloats(address, values);
#pragma unroll
  for (int i = 0; i < kColumns; ++i) values[i] += sums[i];
  StoreFloats(address, values);
}

template <typename T, int kColumns>
__device__ __forceinline__ void Accumulate(const Vector<T, kColumns>& vector,
                                           float (&sums)[kColumns]) {
  float values[kColumns];
  ToFloats(vector, values);
#pragma unroll
  for (int i = 0; i < kColumns; ++i) sums[i] += values[i];
}

// The sorted rows of one chunk, in shared memory.
struct Chunk {
  uint32_t tokens[kChunkRows + 2];  // Includes the row before the chunk and the row after it.
  int32_t rows[kChunkRows];

  __device__ uint32_t Token(int i) const { return tokens[i + 1]; }
  __device__ bool BeginsInside() const { return Token(-1) != Token(0); }
  __device__ bool ContinuesAfter(int i) const { return Token(i) == Token(i + 1); }
};

// Loads the chunk's tokens and rows. Returns the number of rows whose tokens are in the table.
// These rows come first. Every thread of the block must call this function.
__device__ int LoadChunk(const SortedRows& sorted, int64_t first, Chunk& chunk) {
  static_assert(kSliceThreads >= kChunkRows + 2);
  const int i = static_cast<int>(threadIdx.x) - 1;
  const uint32_t token = i <= kChunkRows ? sorted.Token(first + i) : kNoToken;
  if (i <= kChunkRows) chunk.tokens[i + 1] = token;
  const bool is_row = i >= 0 && i < kChunkRows && token != kNoToken;
  if (is_row) chunk.rows[i] = sorted.rows[first + i];
  return __syncthreads_count(is_row);
}

// Each block processes one chunk and one slice of columns. The block adds runs inside the chunk to
// the gradient. For runs that cross a boundary of the chunk, it stores the sums of their parts.
template <typename T, int kColumns>
__global__ void __launch_bounds__(kSliceThreads)
    SumChunksKernel(SortedRows sorted, Partials partials, const T* dy, float* gradient) {
  __shared__ Chunk chunk;
  const int length = LoadChunk(sorted, int64_t{blockIdx.x} * kChunkRows, chunk);
  const int64_t column = FirstColumn<kColumns>();
  if (column >= partials.width) return;
  bool begins_inside = chunk.BeginsInside();
  float sums[kColumns] = {};
  for (int first = 0; first < length; first += kThreadRows) {
    Vector<T, kColumns> loaded[kThreadRows];
#pragma unroll
    for (int k = 0; k < kThreadRows; ++k) {
      if (first + k >= length) break;
      loaded[k] = LoadVector<kColumns>(dy + chunk.rows[first + k] * partials.width + column);
    }
#pragma unroll
    for (int k = 0; k < kThreadRows; ++k) {
      const int i = first + k;
      if (i >= length) break;
      Accumulate(loaded[k], sums);
      const bool continues = chunk.ContinuesAfter(i);
      if (continues && i < length - 1) continue;
      if (!begins_inside) {
        StoreFloats(partials.FromBefore(blockIdx.x) + column, sums);
      } else if (continues) {
        StoreFloats(partials.Beginning(blockIdx.x) + column, sums);
      } else {
        AddTo(gradient + chunk.Token(i) * partials.width + column, sums);
      }
      begins_inside = true;
#pragma unroll
      for (int e = 0; e < kColumns; ++e) sums[e] = 0;
    }
  }
}

// Returns the last chunk of the token's run. Precondition: the run continues from `chunk` into the
// next chunk.
__device__ int64_t LastChunkOfRun(const SortedRows& sorted, int64_t chunk, uint32_t token) {
  int64_t inside = chunk + 1;
  int64_t outside = (sorted.count + kChunkRows - 1) / kChunkRows;
  while (outside - inside > 1) {
    const int64_t middle = (inside + outside) / 2;
    if (sorted.Token(middle * kChunkRows) == token) {
      inside = middle;
    } else {
      outside = middle;
    }
  }
  return inside;
}

// Each block processes one chunk and one slice of columns. If a run begins in the chunk and
// continues after it, the block adds the sums of all parts of the run to the gradient.
template <int kColumns>
__global__ void __launch_bounds__(kSliceThreads)
    AddPartialsKernel(SortedRows sorted, Partials partials, float* gradient) {
  const int64_t chunk = blockIdx.x;
  const int64_t column = FirstColumn<kColumns>();
  const uint32_t token = sorted.Token((chunk + 1) * kChunkRows);
  if (column >= partials.width || token == kNoToken) return;
  if (sorted.Token((chunk + 1) * kChunkRows - 1) != token) return;
  if (sorted.Token(chunk * kChunkRows - 1) == token) return;
  const int64_t last = LastChunkOfRun(sorted, chunk, token);
  float sums[kColumns];
  LoadFloats(partials.Beginning(chunk) + column, sums);
  for (int64_t first = chunk + 1; first <= last; first += kThreadPartials) {
    Vector<float, kColumns> loaded[kThreadPartials];
#pragma unroll
    for (int k = 0; k < kThreadPartials; ++k) {
      if (first + k > last) break;
      loaded[k] = LoadVector<kColumns>(partials.FromBefore(first + k) + column);
    }
#pragma unroll
    for (int k = 0; k < kThreadPartials; ++k) {
      if (first + k > last) break;
      Accumulate(loaded[k], sums);
    }
  }
  AddTo(gradient + token * partials.width + column, sums);
}

template <int kColumns>
dim3 GridFor(int64_t rows, int64_t width) {
  return dim3(static_cast<unsigned>(CeilDivide(rows, kChunkRows)),
              static_cast<unsigned>(CeilDivide(width, kSliceThreads * kColumns)));
}

template <typename T, int kColumns>
void SumRows(const EmbeddingBackwardArguments& arguments, const SortedRows& sorted,
             const Partials& partials, cudaStream_t stream) {
  constexpr int kPartialColumns = kColumns == 1 ? 1 : kVectorSize<float>;
  SumChunksKernel<T, kColumns>
      <<<GridFor<kColumns>(arguments.rows, arguments.width), kSliceThreads, 0, stream>>>(
          sorted, partials, static_cast<const T*>(arguments.dy), arguments.gradient);
  CheckLaunch("EmbeddingBackward: chunks");
  AddPartialsKernel<kPartialColumns>
      <<<GridFor<kPartialColumns>(arguments.rows, arguments.width), kSliceThreads, 0, stream>>>(
          sorted, partials, arguments.gradient);
  CheckLaunch("EmbeddingBackward: partial sums");
}

}  // namespace

size_t EmbeddingBackwardWorkspaceBytes(int64_t rows, int64_t width) {
  return LayoutFor(rows, width).end;
}

void EmbeddingBackward(const EmbeddingBackwardArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  if (arguments.table_rows > std::numeric_limits<int32_t>::max()) {
    throw KernelError("EmbeddingBackward: the table has too many rows");
  }
  const WorkspaceLayout layout = LayoutFor(arguments.rows, arguments.width);
  const SortedRows sorted = SortRows(arguments, layout, stream);
  char* workspace = static_cast<char*>(arguments.workspace);
  const Partials partials = {reinterpret_cast<float*>(workspace + layout.partials),
                             arguments.width};
  DispatchType(arguments.type, [&]<typename T>(std::type_identity<T>) {
    if (TakesVectors<T>(arguments.width, {arguments.dy, arguments.gradient})) {
      SumRows<T, kVectorSize<T>>(arguments, sorted, partials, stream);
    } else {
      SumRows<T, 1>(arguments, sorted, partials, stream);
    }
  });
}

}  // namespace trainyard::trainer::kernels
