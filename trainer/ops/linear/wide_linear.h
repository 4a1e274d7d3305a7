// Products with the weight of a router, with results and gradients in the compute type although the
// rows are of a 16-bit type. A router rounds nothing to 16 bits, because rounding would make the
// logits of many experts equal.
#ifndef TRAINYARD_TRAINER_OPS_LINEAR_WIDE_LINEAR_H_
#define TRAINYARD_TRAINER_OPS_LINEAR_WIDE_LINEAR_H_

#include <torch/types.h>

namespace trainyard::trainer {

// x: [rows, in], weight: [out, in], both of one type; y: [rows, out] in the compute type. The
// gradient of the weight is LinearWeightGradient (linear.h), which takes dy in the compute type.

// Returns y = x weight^T. Products of 16-bit numbers are exact.
torch::Tensor WideLinearForward(const torch::Tensor& x, const torch::Tensor& weight);

// dx += dy weight. dx has the type of the weight and is rounded once. On a GPU, the products of
// 16-bit types use the first 16 significant bits of each dy.
void AddWideLinearInputGradient(const torch::Tensor& dy, const torch::Tensor& weight,
                                torch::Tensor& dx);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_LINEAR_WIDE_LINEAR_H_
