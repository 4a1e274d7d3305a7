// Root-mean-square normalisation (Zhang and Sennrich 2019, arXiv 1910.07467).
#ifndef TRAINYARD_TRAINER_OPS_RMS_NORM_H_
#define TRAINYARD_TRAINER_OPS_RMS_NORM_H_

#include <torch/types.h>

namespace trainyard::trainer {

// x / sqrt(mean(x^2) + epsilon) * weight over the last dimension. x: [rows, width], weight:
// [width], both of one type. Keeps x and one number a row for the backward pass.
torch::Tensor RmsNorm(const torch::Tensor& x, const torch::Tensor& weight, double epsilon);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_RMS_NORM_H_
