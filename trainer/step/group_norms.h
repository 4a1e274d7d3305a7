// Gradient norms of the model's parts: embedding, positions, each layer, final norm, head.
#ifndef TRAINYARD_TRAINER_STEP_GROUP_NORMS_H_
#define TRAINYARD_TRAINER_STEP_GROUP_NORMS_H_

#include <torch/types.h>

#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/optimizer/adamw.h"

namespace trainyard::trainer {

// Returns the names of the parts of the whole model, which are the same on every rank: "embedding",
// "positions", "layer_0" and so on, "final_norm", "head". Parts without weights are omitted. The
// matrix of a tied head is part of "embedding".
std::vector<std::string> GradientPartNames(const ModelConfig& model);

// Computes the squared norms of the model's parts from AdamW's measurements.
class GroupNorms {
 public:
  GroupNorms(const ModelConfig& model, const ParameterStore& store, const AdamW& optimizer);

  // Returns this rank's sums of squares: fp64, in the order of GradientPartNames. The sums of these
  // values over all ranks are the squared norms of the parts of the whole gradient.
  torch::Tensor Squares() const;

 private:
  const AdamW& optimizer_;
  torch::Tensor membership_;  // [model part, measured part], 1 or 0. Adds in a fixed order.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_GROUP_NORMS_H_
