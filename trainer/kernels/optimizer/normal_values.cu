#include "trainer/kernels/optimizer/normal_values.h"

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/optimizer/normal_number.h"

namespace trainyard::trainer::kernels {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) NormalValuesKernel(NormalValuesArguments arguments) {
  const int64_t place = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (place >= arguments.rows * arguments.columns) return;
  const int64_t row = place / arguments.columns, column = place % arguments.columns;
  const int64_t index = arguments.first + row * arguments.stride + column;
  arguments.values[place] = arguments.std * StandardNormal(arguments.key, index);
}

}  // namespace

void NormalValues(const NormalValuesArguments& arguments, cudaStream_t stream) {
  const int64_t elements = arguments.rows * arguments.columns;
  if (elements == 0) return;
  const auto blocks = static_cast<unsigned>((elements + kThreads - 1) / kThreads);
  NormalValuesKernel<<<blocks, kThreads, 0, stream>>>(arguments);
  CheckLaunch("NormalValues");
}

}  // namespace trainyard::trainer::kernels
