// Runs the micro-batches of a step through this rank's part of the model.
#ifndef TRAINYARD_TRAINER_STEP_PIPELINE_H_
#define TRAINYARD_TRAINER_STEP_PIPELINE_H_

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "trainer/model/decoder.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/step/pipeline_schedule.h"

namespace trainyard::trainer {

// Micro-batches in order, all with samples of the same length.
struct MicroBatches {
  int64_t count = 0;
  int64_t samples = 0;                            // Samples per micro-batch.
  int64_t length = 0;                             // Tokens per sample, over all ranks.
  std::function<TrainingTokens(int64_t)> tokens;  // Called once per micro-batch, in order.
};

// With one stage, micro-batches run one after another. All stages must call the same methods, with
// the same number of micro-batches. Not thread-safe. All arguments must outlive this object.
class Pipeline {
 public:
  Pipeline(const Decoder& model, const StageLinks& links, bool zero_bubble)
      : model_(model), links_(links), zero_bubble_(zero_bubble) {}

  // Runs the forward and backward passes. The stage with the head adds the losses to `loss`.
  void Train(const MicroBatches& batches, torch::Tensor& loss, WeightGradients& gradients) const;

  // Runs one micro-batch through all chunks of this stage, so that the kernels are loaded and the
  // memory is allocated before the first step. A GPU cannot load kernels while it waits for a
  // neighbor, and the neighbor may be waiting for this rank. Zeros take the place of the
  // neighbors' tensors, so the gradients are meaningless.
  void Rehearse(const TrainingTokens& tokens, WeightGradients& gradients) const;

  // Forward passes only.
  void Evaluate(const MicroBatches& batches, torch::Tensor& loss) const;

 private:
  class Run;

  const Decoder& model_;
  const StageLinks& links_;
  const bool zero_bubble_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_PIPELINE_H_
