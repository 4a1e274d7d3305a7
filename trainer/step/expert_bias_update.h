// Balances the load of experts by their bias, without a loss (arXiv 2408.15664).
#ifndef TRAINYARD_TRAINER_STEP_EXPERT_BIAS_UPDATE_H_
#define TRAINYARD_TRAINER_STEP_EXPERT_BIAS_UPDATE_H_

#include <torch/types.h>

#include "trainer/model/expert_balance.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Returns the change of the biases, fp32 [layers, experts]: `rate` for an expert with fewer rows
// than the mean of its layer, -rate for more, and 0 for the mean. `load` is int64 [layers,
// experts]; its comparison with the mean is exact.
torch::Tensor ExpertBiasChange(const torch::Tensor& load, double rate);

// Does nothing if the model has no expert bias.
class ExpertBiasUpdate {
 public:
  // Every row of a step must be counted on exactly one rank of `world`. The tensors of `balance`
  // are shared with the model. `world` must outlive this object.
  ExpertBiasUpdate(double rate, const ExpertBalance& balance, Communicator& world)
      : rate_(rate), balance_(balance), world_(world) {}

  // Forgets the counted rows and dropped slots.
  void BeginStep();
  // Sums the counts of the step over the ranks and moves the biases. A step that is not finite
  // (StepValue::kFinite) changes none.
  void Update(const torch::Tensor& step_values);

 private:
  const double rate_;
  ExpertBalance balance_;
  Communicator& world_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_EXPERT_BIAS_UPDATE_H_
