// The final step of a sum over rows: adds the rows of partial sums that the blocks have written.
#ifndef TRAINYARD_TRAINER_KERNELS_PARTIAL_SUMS_H_
#define TRAINYARD_TRAINER_KERNELS_PARTIAL_SUMS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace trainyard::trainer::kernels {

struct PartialSums {
  const float* partial = nullptr;  // [count, stride]; the first `width` columns are added
  float* sum = nullptr;            // [width]
  int64_t count = 0;
  int64_t stride = 0;
  int64_t width = 0;
  bool accumulate = false;  // True: adds to `sum`. False: overwrites it.
};

// The order of additions depends only on the shape. If there are no rows, the sum is 0.
void AddPartialSums(const PartialSums& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_PARTIAL_SUMS_H_
