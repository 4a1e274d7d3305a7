// Adds the parts of a sum over ranks.
#ifndef TRAINYARD_TRAINER_OPS_SUM_PARTS_H_
#define TRAINYARD_TRAINER_OPS_SUM_PARTS_H_

#include <torch/types.h>

#include <vector>

namespace trainyard::trainer {

// sum = the parts, added in their order in the compute type (compute_type.h) and rounded once. If
// `residual` is defined, it is added to the rounded sum. All tensors are contiguous, of the same
// shape and type. There are 1 to 8 parts. `sum` may share the memory of an input.
void SumParts(const std::vector<torch::Tensor>& parts, const torch::Tensor& residual,
              torch::Tensor& sum);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_SUM_PARTS_H_
