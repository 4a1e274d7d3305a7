// Adds up gradients over the ranks that each compute a part of the gradients.
#ifndef TRAINYARD_TRAINER_STEP_GRADIENT_REDUCTION_H_
#define TRAINYARD_TRAINER_STEP_GRADIENT_REDUCTION_H_

#include <torch/types.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/step/small_batch.h"

namespace trainyard::trainer {

// Reduces the gradients of each parameter group as soon as a micro-batch has finished the group,
// while the backward pass continues. Sums first over the tensor-parallel ranks, and then over all
// ranks with different tokens, for the whole gradient or for each rank's own part. With ZeRO 0 and
// 1, gradients are reduced in the last micro-batch only; with ZeRO 2 and 3, in every micro-batch.
// Not thread-safe. All arguments must outlive this object.
class GradientReduction {
 public:
  // shared_embedding: the parameter group that the first and the last stage share; -1 if there is
  // none.
  GradientReduction(ParameterStore& store, AdamW& optimizer, WeightGradients& gradients,
                    const RankGroups& groups, int64_t shared_embedding);
  ~GradientReduction();
  GradientReduction(const GradientReduction&) = delete;
  GradientReduction& operator=(const GradientReduction&) = delete;

  // passes: the number of times that each group is finished in a step. measures_small_batch: true
  // to measure the gradients of the first pass separately.
  void BeginStep(int64_t passes, bool measures_small_batch);
  void OnGroupFinished(int64_t group);
  // Work that is queued after this call will see all gradients and their squared norms.
  void Finish();
  // The small batch of the step; valid only if it is measured.
  SmallBatch& small_batch() { return small_batch_; }

 private:
  struct UnderWay {
    int64_t group = 0;
    bool is_last = false;  // True in the last pass of the step.
    std::vector<Work> works;
  };

  Communicator& ShardOf(int64_t group) const;
  Communicator& ReplicaOf(int64_t group) const;
  std::vector<Work> BeginReduction(int64_t group, bool is_first);
  void AwaitOldest();
  bool IsMeasuredAtTheEnd(int64_t group) const;

  ParameterStore& store_;
  AdamW& optimizer_;
  WeightGradients& gradients_;
  const RankGroups& groups_;
  const int64_t shared_embedding_;
  const bool keeps_parts_;  // True if only parts of gradients are kept (ZeRO 2, 3).
  int64_t passes_ = 0;
  bool measures_small_batch_ = false;
  SmallBatch small_batch_;
  std::vector<int64_t> finished_;  // Number of finished passes in this step, by group.
  std::deque<UnderWay> under_way_;
  std::vector<Work> measuring_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_GRADIENT_REDUCTION_H_
