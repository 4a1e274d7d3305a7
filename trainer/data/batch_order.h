// The samples of each micro-batch of a rank, as a pure function of the step.
#ifndef TRAINYARD_TRAINER_DATA_BATCH_ORDER_H_
#define TRAINYARD_TRAINER_DATA_BATCH_ORDER_H_

#include <cstdint>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/rules/batch_plan.h"

namespace trainyard::trainer {

// Each rank gets consecutive samples of the global batch, so the global batch is the same for every
// number of ranks.
class BatchOrder {
 public:
  // data_index: position along dp. layout.dp must be set.
  BatchOrder(const RunConfig& config, int64_t data_index);

  // Starts at step `first_step` + 1, whose first sample is number `first_sample`.
  void Begin(int64_t first_step, int64_t first_sample);

  // Number of micro-batches that each rank runs in `step`.
  int64_t RoundsOf(int64_t step) const;
  // Sample numbers of micro-batch `batch`, counted from Begin.
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
  // Number of samples used before Begin, minus the number that the plan uses up to first_step_.
  // Nonzero only if an earlier process used other batch sizes.
  int64_t offset_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_BATCH_ORDER_H_
