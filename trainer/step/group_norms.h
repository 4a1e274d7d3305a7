// Gradient norms of the model's parts: embedding, each layer, final norm, head.
#ifndef TRAINYARD_TRAINER_STEP_GROUP_NORMS_H_
#define TRAINYARD_TRAINER_STEP_GROUP_NORMS_H_

#include <torch/types.h>

#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/model/parameter_store.h"
#include "trainer/optimizer/adamw.h"

namespace trainyard::trainer {

// The parts of the whole model, the same on every rank: "embedding", "positions", "layer_0" and so
// on, "final_norm", "head". A model without weights in one of them does not have it; of a tied head
// the matrix is the embedding's.
std::vector<std::string> GradientPartNames(const ModelConfig& model);

// Squared norms of the parts, from what AdamW measures anyway.
class GroupNorms {
 public:
  GroupNorms(const ModelConfig& model, const ParameterStore& store, const AdamW& optimizer);

  // Sums of squares that this rank counts, or zeros where another rank counts the same: fp64, in
  // the order of GradientPartNames. Sums over all ranks are those of the whole gradient.
  torch::Tensor Squares(bool counts) const;

 private:
  const AdamW& optimizer_;
  torch::Tensor membership_;  // [part of the model, measured part]: 1 or 0. A product with it adds
                              // in the same order every time.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_GROUP_NORMS_H_
