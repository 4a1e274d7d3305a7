#include "trainer/model/initialisation.h"

#define XXH_INLINE_ALL
#include <ATen/Parallel.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "trainer/threads/parallel_tasks.h"

namespace trainyard::trainer {
namespace {

// Returns output number `counter` of stream `key` of SplitMix64 (Steele, Lea and Flood 2014).
uint64_t RandomBits(uint64_t key, uint64_t counter) {
  uint64_t bits = key + (counter + 1) * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

// Returns a number in (0, 1]. It is not 0, so its logarithm is finite.
double Uniform(uint64_t bits) { return static_cast<double>((bits >> 11) + 1) * 0x1.0p-53; }

// Returns the index in the whole tensor of element number `index` of the slice.
int64_t GlobalIndex(const LogicalTensorSlice& slice, int64_t index) {
  int64_t global = 0, stride = 1;
  for (auto dim = static_cast<int64_t>(slice.shape.size()) - 1; dim >= 0; --dim) {
    global += (slice.offset[dim] + index % slice.shape[dim]) * stride;
    index /= slice.shape[dim];
    stride *= slice.global_shape[dim];
  }
  return global;
}

// Calls run(begin, end) for parts of [0, count), on as many threads as LibTorch uses.
// at::parallel_for would use only one thread: its OpenMP code is in a header, and this program is
// built without OpenMP.
void ForEachPart(int64_t count, const std::function<void(int64_t, int64_t)>& run) {
  constexpr int64_t kSmallestPart = 1 << 16;
  const int64_t parts =
      std::clamp<int64_t>(count / kSmallestPart, 1, static_cast<int64_t>(at::get_num_threads()));
  ParallelTasks(parts, parts, [&](size_t, size_t task) {
    const auto part = static_cast<int64_t>(task);
    run(count * part / parts, count * (part + 1) / parts);
  });
}

}  // namespace

// Uses the method of Box and Muller (1958). Two neighbouring elements form a pair with a common
// radius: one uses the cosine, the other the sine.
float StandardNormal(uint64_t key, int64_t index) {
  const auto pair = static_cast<uint64_t>(index) & ~uint64_t{1};
  const double radius = std::sqrt(-2.0 * std::log(Uniform(RandomBits(key, pair))));
  const double angle = 2.0 * std::numbers::pi * Uniform(RandomBits(key, pair + 1));
  return static_cast<float>(radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle)));
}

torch::Tensor InitialValues(uint64_t seed, const LogicalTensorSlice& slice) {
  torch::Tensor values = torch::full(slice.shape, slice.initial_value, torch::kFloat32);
  if (slice.init_std == 0) return values;
  const uint64_t key = XXH64(slice.name.data(), slice.name.size(), seed);
  const auto std = static_cast<float>(slice.init_std);
  float* out = values.data_ptr<float>();
  ForEachPart(values.numel(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out[i] = std * StandardNormal(key, GlobalIndex(slice, i));
    }
  });
  return values;
}

}  // namespace trainyard::trainer
