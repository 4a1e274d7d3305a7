#include "trainer/model/mlp.h"

#include "trainer/model/initial_spread.h"
#include "trainer/ops/activation.h"
#include "trainer/ops/linear.h"

namespace trainyard::trainer {

using torch::Tensor;

std::vector<ParameterDeclaration> Mlp::Declare(const ModelConfig& model,
                                               const std::string& prefix) {
  const int64_t hidden = model.hidden_size, ffn = model.ffn_hidden_size;
  const auto matrix = [&](const char* name, std::vector<int64_t> shape, double std) {
    return WholeLogicalTensor(prefix + "mlp." + name + ".weight", std::move(shape), std);
  };
  const double std = model.init_method_std;
  return {{{matrix("gate_proj", {ffn, hidden}, std), matrix("up_proj", {ffn, hidden}, std)},
           /*decays=*/true},
          {{matrix("down_proj", {hidden, ffn}, ResidualInitStd(model))}, /*decays=*/true}};
}

Tensor Mlp::Forward(const Tensor& x, const Tensor& residual, MicroBatch& micro_batch) const {
  const Tensor& gate_up = store_.Value(parameters_.gate_up);
  Tensor packed = torch::empty({x.size(0), gate_up.size(0)}, x.options());
  LinearForward(x, gate_up, packed);
  Tensor activation = torch::empty({x.size(0), gate_up.size(0) / 2}, x.options());
  SwiGluForward(packed, activation);
  Tensor y = torch::empty_like(residual);
  LinearForwardWithResidual(activation, store_.Value(parameters_.down), residual, y);
  if (keeps_activation_) micro_batch.stash.Push(std::move(activation));
  micro_batch.stash.Push(std::move(packed));
  return y;
}

Tensor Mlp::Backward(const Tensor& dy, const Tensor& x, MicroBatch& micro_batch,
                     WeightGradients& gradients) const {
  Tensor packed = micro_batch.stash.Pop();
  Tensor activation = keeps_activation_ ? micro_batch.stash.Pop() : Tensor();
  Tensor d_activation = torch::empty({packed.size(0), packed.size(1) / 2}, packed.options());
  LinearInputGradient(dy, store_.Value(parameters_.down), d_activation);
  Tensor again = keeps_activation_ ? Tensor() : torch::empty_like(d_activation);
  // The gradient takes the memory of `packed`, which nobody reads after this.
  SwiGluBackward(d_activation, packed, packed, again);
  gradients.AddLinear(parameters_.down, dy, keeps_activation_ ? activation : again);
  Tensor dx = torch::empty_like(x);
  LinearInputGradient(packed, store_.Value(parameters_.gate_up), dx);
  gradients.AddLinear(parameters_.gate_up, packed, x);
  return dx;
}

}  // namespace trainyard::trainer
