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

// When a micro-batch has finished a group of parameters, parts of tensor-parallel ranks are added,
// then those of all ranks with other tokens (for all of them, or for each its own part), while the
// backward pass goes on. With whole gradients (ZeRO 0 and 1) that
// happens in the last micro-batch, else in each. One thread at a time; everything given must
// outlive this.
class GradientReduction {
 public:
  // shared_embedding: a group that the first and the last stage have, or -1.
  GradientReduction(ParameterStore& store, AdamW& optimizer, WeightGradients& gradients,
                    const RankGroups& groups, int64_t shared_embedding);
  ~GradientReduction();
  GradientReduction(const GradientReduction&) = delete;
  GradientReduction& operator=(const GradientReduction&) = delete;

  // passes: how often each group is finished in a step. measures_small_batch: the first of them is
  // measured by itself.
  void BeginStep(int64_t passes, bool measures_small_batch);
  void OnGroupFinished(int64_t group);
  // Work that is queued from now on sees all gradients and their squares.
  void Finish();
  // Of the gradients of a step that has measured them.
  SmallBatch& small_batch() { return small_batch_; }

 private:
  struct UnderWay {
    int64_t group = 0;
    bool is_last = false;  // Pass of the step.
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
  const bool keeps_parts_;  // Of the gradients (ZeRO 2 and 3).
  int64_t passes_ = 0;
  bool measures_small_batch_ = false;
  SmallBatch small_batch_;
  std::vector<int64_t> finished_;  // By group, in this step.
  std::deque<UnderWay> under_way_;
  std::vector<Work> measuring_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_GRADIENT_REDUCTION_H_
