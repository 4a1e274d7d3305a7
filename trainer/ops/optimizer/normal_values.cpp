#include "trainer/ops/optimizer/normal_values.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "trainer/kernels/optimizer/normal_number.h"
#include "trainer/ops/gpu.h"
#include "trainer/threads/parallel_tasks.h"

namespace trainyard::trainer {
namespace {

// Calls run(begin, end) for parts of [0, count), on as many threads as LibTorch uses.
// at::parallel_for would use only one thread, because its OpenMP code is in a header and this
// program is built without OpenMP.
void ForEachPart(int64_t count, const std::function<void(int64_t, int64_t)>& run) {
  constexpr int64_t kSmallestPart = 1 << 16;
  const int64_t parts =
      std::clamp<int64_t>(count / kSmallestPart, 1, static_cast<int64_t>(at::get_num_threads()));
  ParallelTasks(parts, parts, [&](size_t, size_t task) {
    const auto part = static_cast<int64_t>(task);
    run(count * part / parts, count * (part + 1) / parts);
  });
}

// Writes elements [first, first + count) of a sequence. Computes the logarithm of each pair once.
void FillRun(uint64_t key, float std, int64_t first, int64_t count, float* out) {
  const int64_t end = first + count;
  int64_t index = first;
  if (index % 2 != 0 && index < end) *out++ = std * kernels::StandardNormal(key, index++);
  for (; index + 1 < end; index += 2) {
    const kernels::NormalPair pair = kernels::NormalPairAt(key, static_cast<uint64_t>(index));
    *out++ = std * static_cast<float>(pair.radius * std::cos(pair.angle));
    *out++ = std * static_cast<float>(pair.radius * std::sin(pair.angle));
  }
  if (index < end) *out = std * kernels::StandardNormal(key, index);
}

}  // namespace

void FillNormal(uint64_t key, double std, const PlaceInMatrix& place, torch::Tensor& values) {
  if (gpu::HasKernels(values)) return gpu::FillNormal(key, std, place, values);
  const int64_t columns = values.size(1);
  float* out = values.data_ptr<float>();
  ForEachPart(values.numel(), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = begin / columns, column = begin % columns;
      const int64_t count = std::min(columns - column, end - begin);
      FillRun(key, static_cast<float>(std), place.first + row * place.stride + column, count,
              out + begin);
      begin += count;
    }
  });
}

}  // namespace trainyard::trainer
