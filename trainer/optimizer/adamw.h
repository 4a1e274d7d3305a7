// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101) over the flat buffers of a ParameterStore.
#ifndef TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_
#define TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_

#include <torch/types.h>

#include <cstdint>

#include "proto/contract/run_config.h"
#include "trainer/model/parameter_store.h"

namespace trainyard::trainer {

// One thread at a time. The store must outlive this.
class AdamW {
 public:
  AdamW(const OptimizerConfig& config, ParameterStore& store);

  // One update from the store's gradients times `gradient_scale`. step: number of this update, from
  // 1 (bias correction). Refreshes the store's values.
  void Step(int64_t step, double learning_rate, double gradient_scale);

  // First and second moments: fp32, laid out like the store's flat buffers.
  torch::Tensor& first_moment() { return first_moment_; }
  torch::Tensor& second_moment() { return second_moment_; }

 private:
  struct Factors;
  void UpdateRange(int64_t first, int64_t length, bool decays, const Factors& factors);

  OptimizerConfig config_;
  ParameterStore& store_;
  torch::Tensor first_moment_;
  torch::Tensor second_moment_;
};

// The Euclidean norm of all gradients: pieces of bounded size in a fixed order, their squares
// added in fp64.
double GradientNorm(ParameterStore& store);

// The factor that reduces the gradients' norm to at most max_norm; 1 when max_norm is 0.
double ClipScale(double norm, double max_norm);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_
