// Sums gradients of which each tensor-parallel rank has a part.
#ifndef TRAINYARD_TRAINER_STEP_TENSOR_SUM_H_
#define TRAINYARD_TRAINER_STEP_TENSOR_SUM_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/parameter_store.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Adds the parts of LogicalTensorSlice::has_partial_gradient in place. gradients: those of a whole
// group, flat, from one or several passes. All ranks of `tensor` call it in the same order.
void SumOverTensorRanks(const ParameterStore& store, int64_t group, Communicator& tensor,
                        const torch::Tensor& gradients);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_TENSOR_SUM_H_
