#include "trainer/model/mlp.h"

#include "proto/contract/layout_parts.h"
#include "trainer/model/initial_spread.h"
#include "trainer/model/parallel_linear.h"
#include "trainer/ops/activation.h"
#include "trainer/ops/linear.h"

namespace trainyard::trainer {

using torch::Tensor;

std::vector<ParameterDeclaration> Mlp::Declare(const ModelConfig& model, const std::string& prefix,
                                               const TensorParallel& tensor) {
  const int64_t hidden = model.hidden_size, ffn = model.ffn_hidden_size;
  const IndexRange here = PartOf(ffn, tensor.size(), tensor.index());
  const auto rows = [&](const char* name) {
    return RowsOfLogicalTensor(prefix + "mlp." + name + ".weight", {ffn, hidden}, here.first,
                               here.length, model.init_method_std);
  };
  return {{{rows("gate_proj"), rows("up_proj")}, /*decays=*/true},
          {{ColumnsOfLogicalTensor(prefix + "mlp.down_proj.weight", {hidden, ffn}, here.first,
                                   here.length, ResidualInitStd(model))},
           /*decays=*/true}};
}

Tensor Mlp::Forward(const Tensor& x, const Tensor& residual, MicroBatch& micro_batch) const {
  const Tensor gate_up = store_.Value(parameters_.gate_up);
  const int64_t rows = tensor_.AllRows(x.size(0));
  Tensor packed = torch::empty({rows, gate_up.size(0)}, x.options());
  ColumnParallelForward(x, gate_up, tensor_, packed);
  Tensor activation = torch::empty({rows, gate_up.size(0) / 2}, x.options());
  SwiGluForward(packed, activation);
  Tensor y = RowParallelForward(activation, store_.Value(parameters_.down), residual, tensor_);
  if (keeps_activation_) micro_batch.stash.Push(std::move(activation));
  micro_batch.stash.Push(std::move(packed));
  return y;
}

Tensor Mlp::Backward(const Tensor& dy, const Tensor& x, MicroBatch& micro_batch,
                     WeightGradients& gradients) const {
  Tensor packed = micro_batch.stash.Pop();
  Tensor activation = keeps_activation_ ? micro_batch.stash.Pop() : Tensor();
  Tensor d_activation = torch::empty({packed.size(0), packed.size(1) / 2}, packed.options());
  const Tensor dy_rows =
      RowParallelInputGradient(dy, store_.Value(parameters_.down), tensor_, d_activation);
  PendingTensor x_rows = tensor_.BeginGather(x);
  Tensor again = keeps_activation_ ? Tensor() : torch::empty_like(d_activation);
  // The gradient takes the memory of `packed`, which nobody reads after this.
  SwiGluBackward(d_activation, packed, packed, again);
  gradients.AddLinear(parameters_.down, dy_rows, keeps_activation_ ? activation : again);
  return ColumnParallelBackward({packed, x_rows.Get()}, parameters_.gate_up, store_, tensor_,
                                gradients);
}

}  // namespace trainyard::trainer
