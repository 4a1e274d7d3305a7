// Products with a weight matrix as arguments of a kernel. Used only in builds with CUDA.
#ifndef TRAINYARD_TRAINER_OPS_GEMM_PRODUCTS_H_
#define TRAINYARD_TRAINER_OPS_GEMM_PRODUCTS_H_

#include <torch/types.h>

#include "trainer/kernels/gemm/gemm_arguments.h"
#include "trainer/ops/gpu_tensors.h"
#include "trainer/ops/tensors/gradient_target.h"

namespace trainyard::trainer::gpu {

// y = x weight^T + bias; bias may be undefined.
inline kernels::GemmArguments ForwardProduct(const torch::Tensor& x, const torch::Tensor& weight,
                                             const torch::Tensor& bias, const torch::Tensor& y) {
  CheckContiguous(x, weight, y);
  return {.a = x.data_ptr(),
          .b = weight.data_ptr(),
          .bias = AddressOf(bias),
          .d = y.data_ptr(),
          .m = x.size(0),
          .n = weight.size(0),
          .k = x.size(1),
          .transpose_b = true,
          .a_type = TypeOf(x),
          .b_type = TypeOf(weight),
          .output_type = TypeOf(y)};
}

// dx = dy weight.
inline kernels::GemmArguments InputGradientProduct(const torch::Tensor& dy,
                                                   const torch::Tensor& weight,
                                                   const torch::Tensor& dx) {
  CheckContiguous(dy, weight, dx);
  return {.a = dy.data_ptr(),
          .b = weight.data_ptr(),
          .d = dx.data_ptr(),
          .m = dy.size(0),
          .n = weight.size(1),
          .k = dy.size(1),
          .a_type = TypeOf(dy),
          .b_type = TypeOf(weight),
          .output_type = TypeOf(dx)};
}

// target (+)= dy^T x.
inline kernels::GemmArguments WeightGradientProduct(const torch::Tensor& dy, const torch::Tensor& x,
                                                    const GradientTarget& target) {
  CheckContiguous(dy, x, target.gradient);
  return {.a = dy.data_ptr(),
          .b = x.data_ptr(),
          .c = target.accumulate ? target.gradient.data_ptr() : nullptr,
          .d = target.gradient.data_ptr(),
          .m = dy.size(1),
          .n = x.size(1),
          .k = dy.size(0),
          .transpose_a = true,
          .a_type = TypeOf(dy),
          .b_type = TypeOf(x),
          .output_type = kernels::ElementType::kFloat32};
}

}  // namespace trainyard::trainer::gpu

#endif  // TRAINYARD_TRAINER_OPS_GEMM_PRODUCTS_H_
