// The samples of each micro-batch of a rank: a pure function of the step.
#ifndef TRAINYARD_TRAINER_BATCH_ORDER_H_
#define TRAINYARD_TRAINER_BATCH_ORDER_H_

#include <cstdint>
#include <vector>

#include "proto/contract/batch_plan.h"
#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// A rank takes neighbouring samples of the global batch, so that any split of it adds up to the
// same samples.
class BatchOrder {
 public:
  // data_index: position along dp. layout.dp must be set.
  BatchOrder(const RunConfig& config, int64_t data_index);

  // From step `first_step` + 1 on, of which the first sample has number `first_sample`.
  void Begin(int64_t first_step, int64_t first_sample);

  // Micro-batches of each rank in a step.
  int64_t RoundsOf(int64_t step) const;
  // Samples of micro-batch number `batch` since Begin.
  std::vector<int64_t> SamplesOf(int64_t batch) const;

  const BatchPlan& plan() const { return plan_; }

 private:
  // Samples of one micro-batch of all data-parallel ranks.
  int64_t SamplesPerRound() const { return micro_batch_ * ranks_; }

  const BatchPlan plan_;
  const int64_t micro_batch_;
  const int64_t ranks_;
  const int64_t data_index_;
  int64_t first_step_ = 0;
  // Samples used at the beginning, more than the plan has for that step: 0 unless an earlier
  // process had other batches.
  int64_t offset_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_BATCH_ORDER_H_
