// The type in which reductions and transcendental functions are computed.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_COMPUTE_TYPE_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_COMPUTE_TYPE_H_

#include <torch/types.h>

namespace trainyard::trainer {

// fp32 for 16-bit types. fp32 and fp64 are their own compute types; the tests use fp64 as a
// reference.
inline torch::ScalarType ComputeType(torch::ScalarType stored) {
  return stored == torch::kBFloat16 || stored == torch::kHalf ? torch::kFloat32 : stored;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_COMPUTE_TYPE_H_
