// Adds the weight gradients of backward passes to the gradient buffer.
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

// Modules pass the factors of a weight gradient instead of multiplying them. The product can then
// run immediately, during a collective, or after the input gradients of other micro-batches
// (zero-bubble pipelines, Qi et al. 2024, arXiv 2401.10241). Not thread-safe.
class WeightGradients {
 public:
  enum class Timing { kAtOnce, kDeferred };

  // The store must outlive this.
  explicit WeightGradients(ParameterStore& store, Timing timing = Timing::kAtOnce);

  // Called when a group's gradients for one micro-batch are complete, in the order of the groups:
  // from FinishGroup with kAtOnce, else when deferred work runs.
  using GroupFinished = std::function<void(int64_t group)>;
  void OnGroupFinished(GroupFinished callback) { group_finished_ = std::move(callback); }

  // From now on each parameter's next gradient overwrites that of the previous step.
  void BeginStep();
  // From now on the next gradient of each parameter of the group overwrites the previous one.
  void BeginGroup(int64_t group);

  // Adds dy^T x to the gradient of a matrix. Both tensors must stay unchanged until that has run.
  void AddLinear(int64_t parameter, const torch::Tensor& dy, const torch::Tensor& x);

  // Adds the sum of dy's rows to the gradient of a bias, immediately. Does nothing for -1 (no
  // bias).
  void AddBias(int64_t parameter, const torch::Tensor& dy);

  // Destination of a gradient that the caller writes immediately. Marks it as written.
  GradientTarget Target(int64_t parameter);

  // The model calls it after the last gradient of a group in one micro-batch.
  void FinishGroup(int64_t group);

  // kDeferred: ends the backward pass to which RunOldest applies as a unit.
  void EndPass();
  // kDeferred: runs the work of the oldest backward pass, in order; or all work.
  void RunOldest();
  void RunDeferred();

 private:
  struct Deferred {
    int64_t parameter = 0;  // Group index if there is no product.
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
