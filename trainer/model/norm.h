// RMSNorm with its weight.
#ifndef TRAINYARD_TRAINER_MODEL_NORM_H_
#define TRAINYARD_TRAINER_MODEL_NORM_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "trainer/model/parameter_store.h"
#include "trainer/model/tensor_parallel.h"
#include "trainer/model/weight_gradients.h"

namespace trainyard::trainer {

// A weight [width] of which every tensor-parallel rank has a copy.
ParameterDeclaration DeclareNorm(const std::string& name, int64_t width,
                                 const TensorParallel& tensor);

class Norm {
 public:
  struct Result {
    torch::Tensor y;            // [rows, hidden]
    torch::Tensor inverse_rms;  // [rows] in the compute type, for the backward pass.
  };

  // `parameter`: of the weight. The store must outlive this.
  Norm(const ParameterStore& store, int64_t parameter, double epsilon)
      : store_(store), parameter_(parameter), epsilon_(epsilon) {}

  // x: [rows, hidden].
  Result Forward(const torch::Tensor& x) const;

  // Returns the gradient of x, plus residual_gradient where that is defined, in the memory of dy.
  torch::Tensor Backward(torch::Tensor dy, const torch::Tensor& x, const torch::Tensor& inverse_rms,
                         const torch::Tensor& residual_gradient, WeightGradients& gradients) const;

 private:
  const ParameterStore& store_;
  int64_t parameter_;
  double epsilon_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_NORM_H_
