// Predicts further tokens during training, so that hidden states contain more about the tokens
// ahead (DeepSeek-V3, arXiv 2412.19437, section 2.2).
#ifndef TRAINYARD_TRAINER_MODEL_MULTI_TOKEN_PREDICTION_H_
#define TRAINYARD_TRAINER_MODEL_MULTI_TOKEN_PREDICTION_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/model/layers/embedding.h"
#include "trainer/model/layers/head.h"
#include "trainer/model/mtp_module.h"
#include "trainer/model/parameters/weight_access.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/micro_batch.h"

namespace trainyard::trainer {

// Runs on the rank with the head, forward and backward in one call. Uses the embedding and the
// head's matrix of the model.
class MultiTokenPrediction {
 public:
  // Groups of parameters, by index.
  struct ModuleGroups {
    BlockGroups block;
    int64_t others = 0;  // Parameters that MtpModule declares.
  };
  struct Modules {
    std::vector<MtpModule> modules;    // In the order of their distance, from 1.
    std::vector<ModuleGroups> groups;  // One per module.
    int64_t embedding_group = 0;
  };

  // `head` must outlive this object.
  MultiTokenPrediction(Modules modules, const Embedding& embedding, const Head& head)
      : modules_(std::move(modules)), embedding_(embedding), head_(head) {}

  // Adds the losses of all modules to `loss`, weighted as in the training loss. Returns the
  // gradient of these losses for `normal`, the model's normalized hidden states. Finishes the
  // groups of the modules. The head's weights must be available.
  torch::Tensor LossAndGradient(const torch::Tensor& normal, const MicroBatch& micro_batch,
                                WeightAccess& access, torch::Tensor& loss,
                                WeightGradients& gradients) const;

 private:
  const Modules modules_;
  const Embedding embedding_;
  const Head& head_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_MULTI_TOKEN_PREDICTION_H_
