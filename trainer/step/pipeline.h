// Takes the micro-batches of a step through this rank's part of the model.
#ifndef TRAINYARD_TRAINER_STEP_PIPELINE_H_
#define TRAINYARD_TRAINER_STEP_PIPELINE_H_

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "trainer/model/decoder.h"
#include "trainer/model/weight_gradients.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/step/pipeline_schedule.h"

namespace trainyard::trainer {

// Micro-batches in their order, all with the same tokens in a sample.
struct MicroBatches {
  int64_t count = 0;
  int64_t samples = 0;                            // Of each.
  int64_t length = 0;                             // Tokens of a sample, over all ranks.
  std::function<TrainingTokens(int64_t)> tokens;  // Is asked once for each, in their order.
};

// A pipeline of one stage works through one micro-batch after the other. All stages call the same
// methods with the same counts. One thread at a time; everything given must outlive this.
class Pipeline {
 public:
  Pipeline(const Decoder& model, const StageLinks& links, bool zero_bubble)
      : model_(model), links_(links), zero_bubble_(zero_bubble) {}

  // Forward and backward passes. Where the head is, adds the losses to `loss`.
  void Train(const MicroBatches& batches, torch::Tensor& loss, WeightGradients& gradients) const;

  // One micro-batch through all chunks of this stage, with zeros for what neighbours would send.
  // Loads the kernels and the memory of a step: a GPU cannot while it waits for a neighbour, which
  // may wait for this rank's work in turn. The gradients are of no use.
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
