// Adds the weight gradients of backward passes to the gradient buffer.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETERS_WEIGHT_GRADIENTS_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETERS_WEIGHT_GRADIENTS_H_

#include <torch/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "trainer/model/parameters/parameter_store.h"
#include "trainer/ops/experts/grouped_linear.h"
#include "trainer/ops/fp8/fp8.h"
#include "trainer/ops/tensors/gradient_target.h"

namespace trainyard::trainer {

// Adds up weight gradients. A module passes the two factors of a gradient instead of multiplying
// them, so that the product can run immediately, during a collective, or after the input gradients
// of other micro-batches (zero-bubble pipelines, Qi et al. 2024, arXiv 2401.10241). Not
// thread-safe.
class WeightGradients {
 public:
  enum class Timing { kAtOnce, kDeferred };

  // The store must outlive this object.
  explicit WeightGradients(ParameterStore& store, Timing timing = Timing::kAtOnce);

  // Called in the order of the groups, whenever the gradients of a group are complete for one
  // micro-batch. With kAtOnce, FinishGroup calls it. With kDeferred, RunOldest and RunDeferred call
  // it.
  using GroupFinished = std::function<void(int64_t group)>;
  void OnGroupFinished(GroupFinished callback) { group_finished_ = std::move(callback); }

  // Begins a step: the first gradient of each parameter overwrites the preceding step's gradient,
  // and later gradients are added.
  void BeginStep();
  // Makes the next gradient of each parameter in the group overwrite the preceding gradient instead
  // of being added to it.
  void BeginGroup(int64_t group);

  // Adds dy^T x to the gradient of a matrix, now or later. The caller must not change the tensors
  // until the product has run.
  void AddLinear(int64_t parameter, const torch::Tensor& dy, const torch::Tensor& x);

  // Like AddLinear, for factors in FP8. Keeps only their columns.
  void AddFp8(int64_t parameter, const Fp8Matrix& dy, const Fp8Matrix& x);

  // Adds dy^T x of each expert's rows to the gradient of the stacked matrices of the experts, now
  // or later. If this is the first gradient of a step, the gradient of an expert without rows
  // becomes 0.
  void AddGrouped(int64_t parameter, const torch::Tensor& dy, const torch::Tensor& x,
                  const RowSegments& segments);

  // Adds the sum of dy's rows to the gradient of a bias, immediately. Does nothing if `parameter`
  // is -1 (no bias).
  void AddBias(int64_t parameter, const torch::Tensor& dy);

  // Returns the destination for a gradient that the caller writes immediately, and records that the
  // gradient is no longer empty.
  GradientTarget Target(int64_t parameter);

  // The model must call FinishGroup after the last gradient of a group in each micro-batch.
  void FinishGroup(int64_t group);

  // With kDeferred: ends a backward pass, whose work RunOldest later runs as a unit.
  void EndPass();
  // With kDeferred: RunOldest runs the work of the oldest backward pass that has not yet run.
  // RunDeferred runs all work, oldest first.
  void RunOldest();
  void RunDeferred();

 private:
  struct Deferred {
    int64_t parameter = 0;  // If there is no product: the index of a finished group.
    torch::Tensor dy;
    torch::Tensor x;
    RowSegments segments;  // Empty: one matrix for all rows.
    // Factors in FP8, instead of dy and x.
    Fp8Matrix fp8_dy = {};
    Fp8Matrix fp8_x = {};

    bool IsProduct() const { return dy.defined() || fp8_dy.columns.defined(); }
  };
  using BackwardPass = std::deque<Deferred>;

  void Add(Deferred product);
  void Multiply(const Deferred& product);
  void Run(BackwardPass pass);

  ParameterStore& store_;
  const Timing timing_;
  GroupFinished group_finished_;
  std::vector<bool> is_written_;  // Indexed by parameter; reset by BeginStep and BeginGroup.
  std::deque<BackwardPass> ended_;
  BackwardPass current_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETERS_WEIGHT_GRADIENTS_H_
