// Gradient norms of the model's parts: embedding, each layer, final norm, head.
#ifndef TRAINYARD_TRAINER_STEP_GROUP_NORMS_H_
#define TRAINYARD_TRAINER_STEP_GROUP_NORMS_H_

#include <torch/types.h>

#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/parameter_store.h"
#include "trainer/optimizer/adamw.h"

namespace trainyard::trainer {

// Part names of the whole model, the same on every rank: "embedding", "positions", "layer_0" and so
// on, "final_norm", "head". Parts without weights are left out. The matrix of a tied head belongs
// to "embedding".
std::vector<std::string> GradientPartNames(const ModelConfig& model);

// Squared norms of the parts, derived from AdamW's measurements.
class GroupNorms {
 public:
  GroupNorms(const ModelConfig& model, const ParameterStore& store, const AdamW& optimizer);

  // Sums of squares counted by this rank, or zeros if another rank counts them: fp64, in the order
  // of GradientPartNames. Their sums over all ranks are the squared norms of the whole gradient.
  torch::Tensor Squares(bool counts) const;

 private:
  const AdamW& optimizer_;
  torch::Tensor membership_;  // [model part, measured part]: 1 or 0. Adds in a fixed order.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_GROUP_NORMS_H_
