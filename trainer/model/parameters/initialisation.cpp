#include "trainer/model/parameters/initialisation.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <vector>

#include "trainer/config/trainer_error.h"
#include "trainer/ops/optimizer/normal_values.h"

namespace trainyard::trainer {
namespace {

// Returns the shape or offset of a matrix. A vector is a matrix of one row.
std::vector<int64_t> AsMatrix(std::vector<int64_t> numbers, int64_t rows) {
  if (numbers.size() == 1) numbers.insert(numbers.begin(), rows);
  if (numbers.size() == 2) return numbers;
  throw TrainerError(ExitCode::kInternal,
                     "Only vectors and matrices have initial values, not tensors with " +
                         std::to_string(numbers.size()) + " dimensions.");
}

}  // namespace

torch::Tensor InitialValues(uint64_t seed, const LogicalTensorSlice& slice, torch::Device device) {
  torch::Tensor values =
      torch::full(slice.shape, slice.initial_value, torch::dtype(torch::kFloat32).device(device));
  if (slice.init_std == 0) return values;
  const uint64_t key = XXH64(slice.name.data(), slice.name.size(), seed);
  const int64_t stride = AsMatrix(slice.global_shape, 1)[1];
  const std::vector<int64_t> offset = AsMatrix(slice.offset, 0);
  torch::Tensor matrix = values.view(AsMatrix(slice.shape, 1));
  FillNormal(key, slice.init_std, {offset[0] * stride + offset[1], stride}, matrix);
  return values;
}

}  // namespace trainyard::trainer
