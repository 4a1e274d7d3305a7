// Normal random numbers for initial weights.
#ifndef TRAINYARD_TRAINER_OPS_OPTIMIZER_NORMAL_VALUES_H_
#define TRAINYARD_TRAINER_OPS_OPTIMIZER_NORMAL_VALUES_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/place_in_matrix.h"

namespace trainyard::trainer {

// Sets each element of `values`, fp32 [rows, columns] and contiguous, to std *
// kernels::StandardNormal(key, index of the element in the larger matrix). On a CPU, the result
// does not depend on the number of threads. A GPU may round some elements differently.
void FillNormal(uint64_t key, double std, const PlaceInMatrix& place, torch::Tensor& values);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_OPTIMIZER_NORMAL_VALUES_H_
