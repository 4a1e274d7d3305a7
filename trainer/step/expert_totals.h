// Adds up the figures of all routers over the ranks, once per step.
#ifndef TRAINYARD_TRAINER_STEP_EXPERT_TOTALS_H_
#define TRAINYARD_TRAINER_STEP_EXPERT_TOTALS_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/pass/expert_balance.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// The balance of a layer with experts in one step, over all ranks.
struct LayerBalance {
  int64_t layer = 0;          // From 0, over the whole model.
  std::vector<int64_t> load;  // Rows that chose each expert.
  int64_t dropped = 0;        // Choices that no expert has processed.
  double entropy = 0;         // Mean of ScoreEntropies over the rows; 0 if not measured.
  double aux_loss = 0;        // Balance loss for the coefficient 1; 0 if there is none.
  bool is_finite = true;      // False if a logit of the router was not finite.

  int64_t rows() const;    // Sum of `load`.
  double balance() const;  // Highest load divided by the mean load: 1 if all loads are equal.
};

// Counts the rows of a step. The sums are equal on all ranks and do not depend on the order in
// which ranks are added, because they are integers: figures are rounded to multiples of 2^-30.
class ExpertTotals {
 public:
  // Every row of a step must be counted on exactly one rank of `world`. The tensors of `balance`
  // are shared with the model. The arguments must outlive this object.
  ExpertTotals(ExpertBalance& balance, Communicator& world) : balance_(balance), world_(world) {}

  // Forgets the counted rows. `measures`: see ExpertBalance.
  void BeginStep(bool measures);

  // Sums the counts of the step over all ranks with one operation: int64 [layers, experts + 4], on
  // the device. Undefined if the model has no experts. loss_scale: the factor of all losses of the
  // step, which is removed from the balance losses.
  torch::Tensor Sum(double loss_scale = 1) const;

 private:
  ExpertBalance& balance_;
  Communicator& world_;
};

// Returns the loads within the result of ExpertTotals::Sum, int64 [layers, experts].
torch::Tensor LoadsOf(const torch::Tensor& totals);

// Reads the result of ExpertTotals::Sum, which must be in host memory. Returns the layers that have
// experts, in order.
std::vector<LayerBalance> ReadExpertTotals(const ModelConfig& model, const torch::Tensor& totals);

// Returns the first layer whose router had logits that are not finite.
std::optional<int64_t> FirstBadRouter(const std::vector<LayerBalance>& layers);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_EXPERT_TOTALS_H_
