// Products of sorted rows with the matrix of each row's expert.
#ifndef TRAINYARD_TRAINER_OPS_GROUPED_LINEAR_H_
#define TRAINYARD_TRAINER_OPS_GROUPED_LINEAR_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/ops/gradient_target.h"

namespace trainyard::trainer {

// The number of rows of each expert, in host memory. The rows of an expert follow those of the
// preceding one. A count may be 0. The counts add up to the number of rows.
using RowSegments = std::vector<int64_t>;

// x: [rows, in], weight: [experts, out, in], y: [rows, out]. All are contiguous and of one type.
// Each product is that of linear.h for the rows of one expert.

// Sets the rows of y to x weight^T of their expert.
void GroupedLinearForward(const torch::Tensor& x, const torch::Tensor& weight,
                          const RowSegments& segments, torch::Tensor& y);

// Sets the rows of dx to dy weight of their expert.
void GroupedLinearInputGradient(const torch::Tensor& dy, const torch::Tensor& weight,
                                const RowSegments& segments, torch::Tensor& dx);

// target: [experts, out, in]. Sets or adds dy^T x of each expert. The gradient of an expert without
// rows is set to 0 or left unchanged, so that it never contains old or uninitialised numbers.
void GroupedLinearWeightGradient(const torch::Tensor& dy, const torch::Tensor& x,
                                 const RowSegments& segments, const GradientTarget& target);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_GROUPED_LINEAR_H_
