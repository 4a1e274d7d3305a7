#include "trainer/model/experts/experts.h"

#include <utility>

#include "proto/model/model_size.h"
#include "trainer/model/parameters/initial_spread.h"
#include "trainer/ops/experts/scaled_activation.h"

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

Tensor Experts::Forward(const ExpertRows& rows, MicroBatch& micro_batch) const {
  const Tensor up = Stacked(parameters_.up, rows), down = Stacked(parameters_.down, rows);
  Tensor packed = GroupedLinearForward(rows.x, up, rows.segments);
  Tensor scaled = torch::empty({packed.size(0), down.size(2)}, packed.options());
  ScaledActivationForward(activation_, packed, rows.weights, scaled);
  Tensor y = GroupedLinearForward(scaled, down, rows.segments);
  if (keeps_activation_) micro_batch.stash.Push(std::move(scaled));
  micro_batch.stash.Push(std::move(packed));
  return y;
}

Experts::Kept Experts::TakeKept(MicroBatch& micro_batch) const {
  Kept kept{.packed = micro_batch.stash.Pop()};
  if (keeps_activation_) kept.scaled = micro_batch.stash.Pop();
  return kept;
}

Experts::Gradients Experts::Backward(const Tensor& dy, const ExpertRows& rows, Kept kept) const {
  const Tensor up = Stacked(parameters_.up, rows), down = Stacked(parameters_.down, rows);
  const Tensor d = GroupedLinearInputGradient(dy, down, rows.segments);
  Tensor again = keeps_activation_ ? Tensor() : torch::empty_like(d);
  // The gradient overwrites `packed`, which is not needed afterwards.
  Tensor d_weights =
      ScaledActivationBackward(activation_, d, kept.packed, rows.weights, kept.packed, again);
  Tensor dx = GroupedLinearInputGradient(kept.packed, up, rows.segments);
  return {std::move(dx), std::move(d_weights), std::move(kept.packed),
          keeps_activation_ ? std::move(kept.scaled) : std::move(again)};
}

void Experts::AddParameterGradients(const Tensor& dy, const ExpertRows& rows,
                                    const Gradients& computed, WeightGradients& gradients) const {
  gradients.AddGrouped(parameters_.down, dy, computed.scaled, rows.segments);
  gradients.AddGrouped(parameters_.up, computed.packed, rows.x, rows.segments);
}

}  // namespace trainyard::trainer
