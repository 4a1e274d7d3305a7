// Load of the experts of the whole model, and the bias that balances it.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERT_BALANCE_H_
#define TRAINYARD_TRAINER_MODEL_EXPERT_BALANCE_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace trainyard::trainer {

// Tensors of all layers, the same on every rank after each step. Layers without experts have zeros.
// Copies share the tensors.
struct ExpertBalance {
  // fp32 [layers, experts]: added to the scores for the choice of experts. Has no gradient.
  // Undefined if the model has no such bias. Always fp32, because steps of 0.001 vanish in bf16.
  torch::Tensor bias;
  // int64 [layers, experts]: number of rows for which this rank has chosen each expert since the
  // step began, with dropped slots. Undefined if the model has no bias, or in a pass whose rows do
  // not count.
  torch::Tensor load;
  // int64 [layers]: number of slots that this rank has dropped since the step began. Undefined if
  // experts have no capacity, or in a pass whose rows do not count.
  torch::Tensor dropped;
};

// Returns the name of a layer's bias in checkpoints, as on Hugging Face: a vector [experts].
inline std::string ExpertBiasName(int64_t layer) {
  return "model.layers." + std::to_string(layer) + ".mlp.gate.e_score_correction_bias";
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERT_BALANCE_H_
