#include "trainer/model/mlp.h"

#include <utility>

#include "proto/layout/layout_parts.h"
#include "proto/model/model_size.h"
#include "trainer/model/initial_spread.h"
#include "trainer/model/replicated_tensor.h"
#include "trainer/ops/activation.h"

namespace trainyard::trainer {

using torch::Tensor;

std::vector<ParameterDeclaration> Mlp::Declare(const ModelConfig& model, const std::string& prefix,
                                               int64_t ffn, const TensorParallel& tensor) {
  const int64_t hidden = model.hidden_size;
  const IndexRange here = PartOf(ffn, tensor.size(), tensor.index());
  ParameterDeclaration up{{}, /*decays=*/true}, up_bias{{}, /*decays=*/false};
  const auto add = [&](const std::string& name) {
    up.slices.push_back(RowsOfLogicalTensor(name + ".weight", {ffn, hidden}, here.first,
                                            here.length, model.init_method_std));
    up_bias.slices.push_back(
        RowsOf(LogicalVector(name + ".bias", ffn, 0), here.first, here.length));
  };
  if (HasGate(model)) add(prefix + "gate_proj");
  add(prefix + "up_proj");
  ParameterDeclaration down{
      {ColumnsOfLogicalTensor(prefix + "down_proj.weight", {hidden, ffn}, here.first, here.length,
                              ResidualInitStd(model))},
      /*decays=*/true};
  if (!model.add_bias_linear) return {std::move(up), std::move(down)};
  return {std::move(up), std::move(up_bias), std::move(down),
          DeclareReplicatedVector(prefix + "down_proj.bias", hidden, 0, tensor)};
}

Tensor Mlp::Forward(const Tensor& x, const Tensor& residual, MicroBatch& micro_batch) const {
  const int64_t rows = parallel_.tensor.AllRows(x.size(0));
  const LinearUse up{parameters_.up, store_, parallel_, &micro_batch};
  const LinearUse down{parameters_.down, store_, parallel_, &micro_batch};
  const int64_t packed_width = store_.Value(parameters_.up.weight).size(0);
  const int64_t width = store_.Value(parameters_.down.weight).size(1);
  Tensor packed = torch::empty({rows, packed_width}, x.options());
  ColumnParallelForward(x, up, packed);
  Tensor activation = torch::empty({rows, width}, x.options());
  ActivationForward(activation_, packed, activation);
  Tensor y = RowParallelForward(activation, residual, down);
  if (keeps_activation_) micro_batch.stash.Push(std::move(activation));
  micro_batch.stash.Push(std::move(packed));
  return y;
}

Tensor Mlp::Backward(const Tensor& dy, const Tensor& x, MicroBatch& micro_batch,
                     WeightGradients& gradients) const {
  Tensor packed = micro_batch.stash.Pop();
  Tensor activation = keeps_activation_ ? micro_batch.stash.Pop() : Tensor();
  const LinearUse up{parameters_.up, store_, parallel_, &micro_batch};
  const LinearUse down{parameters_.down, store_, parallel_, &micro_batch};
  const int64_t width = store_.Value(parameters_.down.weight).size(1);
  Tensor d_activation = torch::empty({packed.size(0), width}, packed.options());
  LinearFactor dy_rows = RowParallelInputGradient(dy, down, d_activation);
  PendingTensor x_rows = parallel_.tensor.BeginGather(x);
  gradients.AddBias(parameters_.down.bias, dy);
  Tensor again = keeps_activation_ ? Tensor() : torch::empty_like(d_activation);
  // The gradient overwrites `packed`, which is not needed afterwards.
  ActivationBackward(activation_, d_activation, packed, packed, again);
  AddWeightGradient(std::move(dy_rows), keeps_activation_ ? activation : again, down, gradients);
  return ColumnParallelBackward({packed, x_rows.Get()}, up, gradients);
}

}  // namespace trainyard::trainer
