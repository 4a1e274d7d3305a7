// Products before and after the tanh approximation of GELU. On a GPU in bf16, one kernel computes
// the product and GELU, which saves a pass over the widest tensor of the feed-forward layer.
#ifndef TRAINYARD_TRAINER_OPS_LINEAR_GELU_LINEAR_H_
#define TRAINYARD_TRAINER_OPS_LINEAR_GELU_LINEAR_H_

#include <torch/types.h>

namespace trainyard::trainer {

// All tensors are contiguous and of the same type. In 16-bit types, the fused kernel computes GELU
// of the sum before it is rounded; the separate kernels round in between.

// y = x weight^T + bias, gelu = GELU(y). x: [rows, in], weight: [out, in], y and gelu: [rows, out],
// bias: [out], or undefined.
void LinearForwardWithGelu(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, torch::Tensor& y, torch::Tensor& gelu);

// The gradient of y in gelu = GELU(y), where dy weight is the gradient of gelu. dy: [rows, out],
// weight: [out, in], y and d_y: [rows, in].
void LinearInputGradientWithGelu(const torch::Tensor& dy, const torch::Tensor& weight,
                                 const torch::Tensor& y, torch::Tensor& d_y);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_LINEAR_GELU_LINEAR_H_
