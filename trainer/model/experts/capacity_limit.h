// Limits how many tokens of each sample an expert processes (`model.moe_expert_capacity_factor`).
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_CAPACITY_LIMIT_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_CAPACITY_LIMIT_H_

#include <torch/types.h>

#include "proto/contract/model_config.h"
#include "proto/model/expert_capacity.h"
#include "trainer/model/parallel/model_parallel.h"
#include "trainer/model/pass/micro_batch.h"

namespace trainyard::trainer {

// The limit applies to each whole sample, so that the choice does not depend on the layout. Ranks
// that share samples exchange the experts and weights of their rows.
class CapacityLimit {
 public:
  CapacityLimit(const ModelConfig& model, const ModelParallel& parallel);

  bool exists() const { return HasExpertCapacity(model_); }

  // Marks the dropped slots of this rank's rows (ops/expert_capacity.h). `experts` and `weights`
  // are [rows, topk]. All ranks that share the samples must call Apply together.
  torch::Tensor Apply(const torch::Tensor& experts, const torch::Tensor& weights,
                      const MicroBatch& micro_batch) const;

 private:
  torch::Tensor WholeSamples(const torch::Tensor& rows, const MicroBatch& micro_batch) const;
  torch::Tensor RowsHere(const torch::Tensor& samples, const MicroBatch& micro_batch) const;

  const ModelConfig model_;
  const TensorParallel tensor_;
  const ContextParallel context_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_CAPACITY_LIMIT_H_
