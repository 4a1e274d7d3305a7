#include "trainer/model/experts.h"

#include <utility>

#include "proto/model/model_size.h"
#include "trainer/model/initial_spread.h"
#include "trainer/ops/activation.h"
#include "trainer/ops/permute.h"

namespace trainyard::trainer {

using torch::Tensor;

std::vector<ParameterDeclaration> Experts::Declare(const ModelConfig& model,
                                                   const std::string& prefix,
                                                   const ExpertParallel& parallel) {
  const int64_t hidden = model.hidden_size, width = ExpertWidth(model);
  const IndexRange here = parallel.ExpertsHere(model.num_experts), part = parallel.WidthHere(width);
  ParameterDeclaration up{{}, /*decays=*/true}, down{{}, /*decays=*/true};
  for (int64_t expert = here.first; expert < here.end(); ++expert) {
    const std::string own = prefix + "experts." + std::to_string(expert) + ".";
    const auto rows = [&](const std::string& name) {
      return RowsOfLogicalTensor(own + name + ".weight", {width, hidden}, part.first, part.length,
                                 model.init_method_std);
    };
    if (HasGate(model)) up.slices.push_back(rows("gate_proj"));
    up.slices.push_back(rows("up_proj"));
    down.slices.push_back(ColumnsOfLogicalTensor(own + "down_proj.weight", {hidden, width},
                                                 part.first, part.length, ResidualInitStd(model)));
  }
  return {std::move(up), std::move(down)};
}

Tensor Experts::Stacked(int64_t parameter, const ExpertRows& rows) const {
  const Tensor value = store_.Value(parameter);
  return value.view({static_cast<int64_t>(rows.segments.size()), -1, value.size(1)});
}

Tensor Experts::Activated(const Tensor& packed, int64_t width) const {
  Tensor activation = torch::empty({packed.size(0), width}, packed.options());
  ActivationForward(activation_, packed, activation);
  return activation;
}

Tensor Experts::Forward(const ExpertRows& rows, MicroBatch& micro_batch) const {
  const Tensor up = Stacked(parameters_.up, rows), down = Stacked(parameters_.down, rows);
  Tensor packed = torch::empty({rows.x.size(0), up.size(1)}, rows.x.options());
  GroupedLinearForward(rows.x, up, rows.segments, packed);
  Tensor activation = Activated(packed, down.size(2));
  Tensor scaled = torch::empty_like(activation);
  ScaleRows(activation, rows.weights, scaled);
  Tensor y = torch::empty_like(rows.x);
  GroupedLinearForward(scaled, down, rows.segments, y);
  if (keeps_activation_) micro_batch.stash.Push(std::move(activation));
  micro_batch.stash.Push(std::move(packed));
  return y;
}

Experts::Gradients Experts::Backward(const Tensor& dy, const ExpertRows& rows,
                                     MicroBatch& micro_batch, WeightGradients& gradients) const {
  const Tensor up = Stacked(parameters_.up, rows), down = Stacked(parameters_.down, rows);
  Tensor packed = micro_batch.stash.Pop();
  const Tensor activation =
      keeps_activation_ ? micro_batch.stash.Pop() : Activated(packed, down.size(2));
  Tensor scaled = torch::empty_like(activation), d = torch::empty_like(activation);
  ScaleRows(activation, rows.weights, scaled);
  GroupedLinearInputGradient(dy, down, rows.segments, d);
  gradients.AddGrouped(parameters_.down, dy, scaled, rows.segments);
  Tensor d_weights = ScaleRowsBackward(activation, rows.weights, d), not_needed;
  // The gradient overwrites `packed`, which is not needed afterwards.
  ActivationBackward(activation_, d, packed, packed, not_needed);
  Tensor dx = torch::empty_like(rows.x);
  GroupedLinearInputGradient(packed, up, rows.segments, dx);
  gradients.AddGrouped(parameters_.up, packed, rows.x, rows.segments);
  return {std::move(dx), std::move(d_weights)};
}

}  // namespace trainyard::trainer
