#include "trainer/model/experts/moe.h"

#include <utility>

#include "proto/model/model_size.h"
#include "trainer/model/experts/dispatch_choice.h"

namespace trainyard::trainer {

using torch::Tensor;

std::vector<ParameterDeclaration> Moe::Declare(const ModelConfig& model, const std::string& prefix,
                                               const TensorParallel& tensor) {
  std::vector<ParameterDeclaration> all;
  all.push_back(Router::Declare(model, prefix, tensor));
  if (HasSharedExpert(model)) {
    Append(Mlp::Declare(model, prefix + "shared_experts.",
                        model.moe_shared_expert_intermediate_size, tensor),
           all);
  }
  return all;
}

Moe::Moe(const ModelConfig& model, const ParameterStore& store, const Parameters& parameters,
         int64_t layer, bool keeps_activations, const ModelParallel& parallel)
    : keeps_activations_(keeps_activations),
      expert_group_(store.GroupOf(parameters.experts.up)),
      router_(model, store, parameters.router, layer, parallel),
      dispatch_(MakeTokenDispatch(model, parallel.expert)),
      experts_(store, parameters.experts, model.activation, keeps_activations) {
  if (!HasSharedExpert(model)) return;
  shared_.emplace(store, parameters.shared, model.activation, keeps_activations, parallel);
}

Tensor Moe::Forward(const Tensor& x, const Tensor& residual, MicroBatch& micro_batch) const {
  Tensor weights = router_.Forward(x, micro_batch);
  ExpertChoice& choice = micro_batch.choice;
  if (!micro_batch.repeats) dispatch_->ShareCounts(choice);
  const DispatchPlan plan = dispatch_->Plan(choice);
  PendingRows sent = dispatch_->BeginSend({x, weights}, plan);
  const Tensor sum = shared_.has_value() ? shared_->Forward(x, residual, micro_batch) : residual;
  const WeightedRows arrived = dispatch_->FinishSend(std::move(sent), plan);
  const ExpertRows rows{arrived.values, arrived.weights, plan.segments};
  PendingRows returned = dispatch_->BeginReturn({experts_.Forward(rows, micro_batch), {}}, plan);
  Tensor y = dispatch_->FinishReturn(std::move(returned), plan, sum).values;
  if (keeps_activations_) micro_batch.stash.Push(rows.x);
  micro_batch.stash.Push(std::move(weights));
  micro_batch.stash.Push(choice.counts);
  micro_batch.stash.Push(choice.experts);
  return y;
}

Tensor Moe::Backward(const Tensor& dy, const Tensor& x, MicroBatch& micro_batch,
                     WeightGradients& gradients) const {
  ExpertChoice choice;
  choice.experts = micro_batch.stash.Pop();
  choice.counts = micro_batch.stash.Pop();
  const Tensor weights = micro_batch.stash.Pop();
  const DispatchPlan plan = dispatch_->Plan(choice);
  Tensor x_rows = keeps_activations_ ? micro_batch.stash.Pop() : Tensor();
  PendingRows sent = dispatch_->BeginSend({dy, weights}, plan);
  if (!keeps_activations_) {
    x_rows = dispatch_->FinishSend(dispatch_->BeginSend({x, {}}, plan), plan).values;
  }
  // The experts pushed their tensors after the shared expert did, so theirs are popped first.
  Experts::Kept kept = experts_.TakeKept(micro_batch);
  const Tensor d_shared =
      shared_.has_value() ? shared_->Backward(dy, x, micro_batch, gradients) : Tensor();
  const WeightedRows arrived = dispatch_->FinishSend(std::move(sent), plan);
  const ExpertRows rows{x_rows, arrived.weights, plan.segments};
  const Experts::Gradients d_rows = experts_.Backward(arrived.values, rows, std::move(kept));
  PendingRows returned = dispatch_->BeginReturn({d_rows.x, d_rows.weights}, plan);
  experts_.AddParameterGradients(arrived.values, rows, d_rows, gradients);
  gradients.FinishGroup(expert_group_);
  WeightedRows d_tokens = dispatch_->FinishReturn(std::move(returned), plan, d_shared);
  router_.Backward(d_tokens.weights, choice, x, micro_batch, gradients, d_tokens.values);
  return d_tokens.values;
}

}  // namespace trainyard::trainer
