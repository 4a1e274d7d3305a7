#include "trainer/model/multi_token_prediction.h"

#include <utility>

#include "trainer/model/block_use.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Prepares a pass through the module with index `module`.
MtpModule::Kept BeginPass(const MicroBatch& micro_batch, size_t module) {
  MtpModule::Kept kept{micro_batch.With(Stash())};
  kept.micro_batch.inputs = micro_batch.ahead[module].inputs;
  kept.micro_batch.targets = micro_batch.ahead[module].targets;
  return kept;
}

}  // namespace

// WeightUse names the backward pass even for the forward half. No other group is then sent early:
// the owner of the weights does not know which group follows.
Tensor MultiTokenPrediction::LossAndGradient(const Tensor& normal, const MicroBatch& micro_batch,
                                             WeightAccess& access, Tensor& loss,
                                             WeightGradients& gradients) const {
  const WeightUse use_table(access, modules_.embedding_group, Pass::kBackward);
  std::vector<MtpModule::Kept> passes;
  Tensor h = normal;
  for (size_t i = 0; i < modules_.modules.size(); ++i) {
    const BlockUse use_block(access, modules_.groups[i].block, Pass::kBackward);
    const WeightUse use_others(access, modules_.groups[i].others, Pass::kBackward);
    MtpModule::Kept& kept = passes.emplace_back(BeginPass(micro_batch, i));
    modules_.modules[i].Forward(h, embedding_, kept);
    h = kept.y;
  }
  Tensor dh;
  for (size_t i = modules_.modules.size(); i-- > 0;) {
    const BlockUse use_block(access, modules_.groups[i].block, Pass::kBackward);
    const WeightUse use_others(access, modules_.groups[i].others, Pass::kBackward);
    const MtpModule::Kept& kept = passes.back();
    const Tensor own = head_.LossAndGradient(kept.y, kept.micro_batch.targets, loss, gradients);
    dh = modules_.modules[i].Backward(dh.defined() ? own.add_(dh) : own, embedding_, passes.back(),
                                      gradients);
    passes.pop_back();
    gradients.FinishGroup(modules_.groups[i].block.dense);
    gradients.FinishGroup(modules_.groups[i].others);
  }
  return dh;
}

}  // namespace trainyard::trainer
