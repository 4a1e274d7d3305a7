// Sums gradients over the ranks that have parts of them.
#ifndef TRAINYARD_TRAINER_STEP_GRADIENT_REDUCTION_H_
#define TRAINYARD_TRAINER_STEP_GRADIENT_REDUCTION_H_

#include <torch/types.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "trainer/model/weight_gradients.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/step/small_batch.h"

namespace trainyard::trainer {

// When a micro-batch has finished a group of parameters, adds the parts of the tensor-parallel
// ranks, then sums over all ranks with different tokens (the whole gradient, or each rank's own
// part), while the backward pass continues. With whole gradients (ZeRO 0 and 1) this happens in the
// last micro-batch, otherwise in each. Not thread-safe; all arguments must outlive this.
class GradientReduction {
 public:
  // shared_embedding: group shared by the first and last stages, or -1.
  GradientReduction(ParameterStore& store, AdamW& optimizer, WeightGradients& gradients,
                    const RankGroups& groups, int64_t shared_embedding);
  ~GradientReduction();
  GradientReduction(const GradientReduction&) = delete;
  GradientReduction& operator=(const GradientReduction&) = delete;

  // passes: number of times each group is finished in a step. measures_small_batch: measure the
  // first of them separately.
  void BeginStep(int64_t passes, bool measures_small_batch);
  void OnGroupFinished(int64_t group);
  // Makes work queued from now on see all gradients and their squares.
  void Finish();
  // Small batch of the step, if measured.
  SmallBatch& small_batch() { return small_batch_; }

 private:
  struct UnderWay {
    int64_t group = 0;
    bool is_last = false;  // Last pass of the step.
    std::vector<Work> works;
  };

  std::vector<Work> BeginReduction(int64_t group, bool is_first);
  void AwaitOldest();
  bool IsMeasuredAtTheEnd(int64_t group) const;

  ParameterStore& store_;
  AdamW& optimizer_;
  WeightGradients& gradients_;
  const RankGroups& groups_;
  const int64_t shared_embedding_;
  const bool keeps_parts_;  // Keeps parts of the gradients (ZeRO 2 and 3).
  int64_t passes_ = 0;
  bool measures_small_batch_ = false;
  SmallBatch small_batch_;
  std::vector<int64_t> finished_;  // Number of finished passes in this step, by group.
  std::deque<UnderWay> under_way_;
  std::vector<Work> measuring_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_GRADIENT_REDUCTION_H_
