#include "trainer/kernels/partial_sums.h"

#include "trainer/kernels/cuda_check.h"

namespace trainyard::trainer::kernels {
namespace {

// A block adds kSumColumns columns. It splits the rows into kSumSlices slices.
constexpr int kSumColumns = 32;
constexpr int kSumSlices = 32;

// Adds the rows of each slice in order, and then the slices in order.
__global__ void __launch_bounds__(kSumColumns* kSumSlices)
    AddPartialSumsKernel(PartialSums arguments) {
  __shared__ float slices[kSumSlices][kSumColumns];
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kSumColumns + threadIdx.x;
  const bool inside = column < arguments.width;
  float sum = 0;
  for (int64_t row = threadIdx.y; inside && row < arguments.count; row += kSumSlices) {
    sum += arguments.partial[row * arguments.stride + column];
  }
  slices[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || !inside) return;
  float total = arguments.accumulate ? arguments.sum[column] : 0.0f;
  for (int slice = 0; slice < kSumSlices; ++slice) total += slices[slice][threadIdx.x];
  arguments.sum[column] = total;
}

}  // namespace

void AddPartialSums(const PartialSums& arguments, cudaStream_t stream) {
  const int64_t blocks = (arguments.width + kSumColumns - 1) / kSumColumns;
  AddPartialSumsKernel<<<static_cast<unsigned>(blocks), dim3(kSumColumns, kSumSlices), 0, stream>>>(
      arguments);
  CheckLaunch("AddPartialSums");
}

}  // namespace trainyard::trainer::kernels
