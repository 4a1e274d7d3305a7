// Adds up gradients of which each tensor-parallel rank has computed only a part.
#ifndef TRAINYARD_TRAINER_STEP_TENSOR_SUM_H_
#define TRAINYARD_TRAINER_STEP_TENSOR_SUM_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/parameters/parameter_store.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Sums, in place, the gradients of slices with LogicalTensorSlice::has_partial_gradient.
// `gradients` is the flat gradients of a whole group, from one or several passes. All ranks of
// `tensor` must call this function, for the groups in the same order.
void SumOverTensorRanks(const ParameterStore& store, int64_t group, Communicator& tensor,
                        const torch::Tensor& gradients);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_TENSOR_SUM_H_
