// The final step of sums over rows: adds the blocks' rows of partial sums.
#ifndef TRAINYARD_TRAINER_KERNELS_PARTIAL_SUMS_H_
#define TRAINYARD_TRAINER_KERNELS_PARTIAL_SUMS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace trainyard::trainer::kernels {

struct PartialSums {
  const float* partial = nullptr;  // [count, stride]; adds the first `width` columns
  float* sum = nullptr;            // [width]
  int64_t count = 0;
  int64_t stride = 0;
  int64_t width = 0;
  bool accumulate = false;  // Adds to `sum` instead of overwriting it.
};

// The order of addition depends only on the shape. Without rows the sum is 0.
void AddPartialSums(const PartialSums& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_PARTIAL_SUMS_H_
