#include "trainer/model/parallel/context_parallel.h"

namespace trainyard::trainer {

torch::Tensor ContextParallel::PositionsOf(int64_t rank, int64_t length,
                                           torch::Device device) const {
  const auto options = torch::TensorOptions().dtype(torch::kInt64).device(device);
  if (size() == 1) return torch::arange(length, options);
  if (exchanges_heads()) {
    const int64_t part = length / size();
    return torch::arange(rank * part, (rank + 1) * part, options);
  }
  const int64_t chunk = length / (2 * size()), late = 2 * size() - 1 - rank;
  return at::cat({torch::arange(rank * chunk, (rank + 1) * chunk, options),
                  torch::arange(late * chunk, (late + 1) * chunk, options)});
}

}  // namespace trainyard::trainer
