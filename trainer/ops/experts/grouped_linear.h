// Products of sorted rows with the matrix of each row's expert.
#ifndef TRAINYARD_TRAINER_OPS_EXPERTS_GROUPED_LINEAR_H_
#define TRAINYARD_TRAINER_OPS_EXPERTS_GROUPED_LINEAR_H_

#include <torch/types.h>

#include "trainer/ops/tensors/gradient_target.h"
#include "trainer/ops/tensors/row_segments.h"

namespace trainyard::trainer {

// x: [rows, in], weight: [experts, out, in], y: [rows, out]. All three are contiguous and of one
// type. For the rows of one expert, each product equals the corresponding function of linear.h.

// Returns y = x weight^T of each row's expert. Allocates y, because LibTorch's grouped product
// allocates its result.
torch::Tensor GroupedLinearForward(const torch::Tensor& x, const torch::Tensor& weight,
                                   const RowSegments& segments);

// Returns dx = dy weight of each row's expert.
torch::Tensor GroupedLinearInputGradient(const torch::Tensor& dy, const torch::Tensor& weight,
                                         const RowSegments& segments);

// target: [experts, out, in]. Sets or adds dy^T x of each expert. The gradient of an expert without
// rows is set to 0 or left unchanged, so that it never contains old or uninitialized numbers.
void GroupedLinearWeightGradient(const torch::Tensor& dy, const torch::Tensor& x,
                                 const RowSegments& segments, const GradientTarget& target);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_EXPERTS_GROUPED_LINEAR_H_
