#include "trainer/kernels/attention/head_copy.h"

#include <algorithm>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/vector_access.cuh"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;

// Rows that a thread reads before it writes the first of them, so that several reads are in flight.
constexpr int kRowsAtOnce = 4;

// Kernel arguments may not contain std::array, whose functions are host functions.
struct Jobs {
  HeadCopyJob jobs[kMaxHeadCopies];
};

__device__ __forceinline__ int64_t RowOffset(const HeadCopyStrides& strides, unsigned sample,
                                             unsigned token) {
  return sample * strides.sample + token * strides.token;
}

// A row is the heads of one token. The threads of a block copy several rows at a time: thread t
// copies vector t % width of its row, and more vectors if the row has more than kThreads.
__global__ void __launch_bounds__(kThreads) CopyHeadsKernel(const __grid_constant__ Jobs all) {
  const HeadCopyJob& job = all.jobs[blockIdx.y];
  const auto head_vectors = static_cast<unsigned>(job.head_vectors);
  const unsigned width = static_cast<unsigned>(job.heads) * head_vectors;
  const unsigned threads = min(width, static_cast<unsigned>(kThreads));
  const unsigned block_rows = kThreads / threads;
  const unsigned row_of_thread = threadIdx.x / threads;
  if (row_of_thread >= block_rows) return;
  const auto length = static_cast<unsigned>(job.length);
  const unsigned rows = static_cast<unsigned>(job.samples) * length;
  const unsigned first = blockIdx.x * block_rows * kRowsAtOnce + row_of_thread;
  const auto* from = static_cast<const uint4*>(job.from);
  auto* to = static_cast<uint4*>(job.to);
  for (unsigned vector = threadIdx.x % threads; vector < width; vector += threads) {
    const unsigned head = vector / head_vectors, element = vector % head_vectors;
    const int64_t from_head = head * job.from_strides.head + element;
    const int64_t to_head = head * job.to_strides.head + element;
    uint4 values[kRowsAtOnce];
    int64_t targets[kRowsAtOnce];
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      const unsigned row = first + i * block_rows;
      if (row >= rows) continue;
      const unsigned sample = row / length, token = row % length;
      values[i] = from[RowOffset(job.from_strides, sample, token) + from_head];
      targets[i] = RowOffset(job.to_strides, sample, token) + to_head;
    }
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (first + i * block_rows < rows) __stwb(to + targets[i], values[i]);
    }
  }
}

int64_t BlocksOf(const HeadCopyJob& job) {
  const int64_t threads = std::min<int64_t>(job.heads * job.head_vectors, kThreads);
  const int64_t block_rows = kThreads / threads * kRowsAtOnce;
  return (job.samples * job.length + block_rows - 1) / block_rows;
}

}  // namespace

void CopyHeads(const CopyHeadsArguments& arguments, cudaStream_t stream) {
  Jobs all;
  int64_t blocks = 0;
  int count = 0;
  for (int i = 0; i < arguments.count; ++i) {
    const HeadCopyJob& job = arguments.jobs[i];
    if (job.samples * job.length * job.heads * job.head_vectors == 0) continue;
    all.jobs[count++] = job;
    blocks = std::max(blocks, BlocksOf(job));
  }
  if (count == 0) return;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(count));
  CopyHeadsKernel<<<grid, kThreads, 0, stream>>>(all);
  CheckLaunch("CopyHeads");
}

}  // namespace trainyard::trainer::kernels
