// Weight gradients of backward passes, on their way into the gradient buffer.
#ifndef TRAINYARD_TRAINER_MODEL_WEIGHT_GRADIENTS_H_
#define TRAINYARD_TRAINER_MODEL_WEIGHT_GRADIENTS_H_

#include <torch/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "trainer/model/parameter_store.h"
#include "trainer/ops/gradient_target.h"

namespace trainyard::trainer {

// Modules hand over the factors of a weight gradient instead of multiplying them, so that the
// product can run at once, under a collective, or after the input gradients of other micro-batches
// (zero-bubble pipelines, Qi et al. 2024, arXiv 2401.10241). One thread at a time.
class WeightGradients {
 public:
  enum class Timing { kAtOnce, kDeferred };

  // The store must outlive this.
  explicit WeightGradients(ParameterStore& store, Timing timing = Timing::kAtOnce);

  // Called when the gradients of a group are complete in one micro-batch, in the order of the
  // groups: with kAtOnce from FinishGroup, else when what was deferred runs.
  using GroupFinished = std::function<void(int64_t group)>;
  void OnGroupFinished(GroupFinished callback) { group_finished_ = std::move(callback); }

  // The next gradient of every parameter overwrites the one of the step before.
  void BeginStep();
  // The next gradient of every parameter of the group overwrites the one before.
  void BeginGroup(int64_t group);

  // Adds dy^T x to the gradient of a matrix. Both tensors must not change before that has run.
  void AddLinear(int64_t parameter, const torch::Tensor& dy, const torch::Tensor& x);

  // Adds the sum of dy's rows to the gradient of a bias, at once; nothing where there is none (-1).
  void AddBias(int64_t parameter, const torch::Tensor& dy);

  // The place of a gradient that its caller writes at once; counts as written.
  GradientTarget Target(int64_t parameter);

  // To be called by the model after the last gradient of a group in one micro-batch.
  void FinishGroup(int64_t group);

  // kDeferred: ends what RunOldest takes for one backward pass.
  void EndPass();
  // kDeferred: runs what the oldest backward pass has handed over, in order; or all of them.
  void RunOldest();
  void RunDeferred();

 private:
  struct Deferred {
    int64_t parameter = 0;  // Or the group, where there is no product.
    torch::Tensor dy;
    torch::Tensor x;
  };
  using BackwardPass = std::deque<Deferred>;

  void Run(BackwardPass pass);

  ParameterStore& store_;
  const Timing timing_;
  GroupFinished group_finished_;
  std::vector<bool> is_written_;  // By parameter, since BeginStep or BeginGroup.
  std::deque<BackwardPass> ended_;
  BackwardPass current_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_WEIGHT_GRADIENTS_H_
