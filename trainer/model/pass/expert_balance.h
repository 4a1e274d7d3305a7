// Load of the experts of the whole model, and the bias that balances the load.
#ifndef TRAINYARD_TRAINER_MODEL_PASS_EXPERT_BALANCE_H_
#define TRAINYARD_TRAINER_MODEL_PASS_EXPERT_BALANCE_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace trainyard::trainer {

// Sums that a router accumulates over the rows of a step.
enum class RouterFigure : int64_t {
  kLogits,   // Sum of the logits. Not finite if a logit is not finite.
  kEntropy,  // Sum of ScoreEntropies over the rows (ops/balance_loss.h).
  kAuxLoss,  // Mean over the step's micro-batches of the balance loss for the coefficient 1.
};
inline constexpr int64_t kRouterFigures = 3;

// Tensors of all layers. Layers without experts have zeros. Copies share the tensors. All tensors
// but the bias are sums over the rows that this rank has routed since the step began. These sums
// are undefined if the model has no experts, and in a pass whose rows do not count.
struct ExpertBalance {
  // fp32 [layers, experts]: added to the scores for the choice of experts. Has no gradient, and is
  // the same on every rank after each step. Undefined if the model has no such bias. Always fp32,
  // because steps of 0.001 vanish in bf16.
  torch::Tensor bias;
  // int64 [layers, experts]: rows that chose each expert, including those that are dropped later.
  torch::Tensor load;
  // int64 [layers]: choices that were not processed, because the expert was full.
  torch::Tensor dropped;
  // fp64 [layers, kRouterFigures].
  torch::Tensor figures;
  // True if this step measures kEntropy and kAuxLoss. All ranks measure the same steps.
  bool measures = false;

  // Returns the state for a pass whose rows do not count.
  ExpertBalance WithoutCounts() const {
    ExpertBalance same;
    same.bias = bias;
    return same;
  }

  // Returns the place of the figure of a layer. Requires that `figures` is defined.
  torch::Tensor Figure(int64_t layer, RouterFigure figure) const {
    return figures[layer][static_cast<int64_t>(figure)];
  }
};

// Returns the name of a layer's bias in checkpoints, as on Hugging Face: a vector [experts].
inline std::string ExpertBiasName(int64_t layer) {
  return "model.layers." + std::to_string(layer) + ".mlp.gate.e_score_correction_bias";
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PASS_EXPERT_BALANCE_H_
