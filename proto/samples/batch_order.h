// Computes the samples of each micro-batch of a rank, as a pure function of the step.
#ifndef TRAINYARD_PROTO_SAMPLES_BATCH_ORDER_H_
#define TRAINYARD_PROTO_SAMPLES_BATCH_ORDER_H_

#include <cstdint>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/rules/batch_plan.h"

namespace trainyard {

// The order of batches of one rank. Each rank gets consecutive samples of the global batch, so the
// global batch does not depend on the number of ranks.
class BatchOrder {
 public:
  // `data_index` is the rank's index along dp. layout.dp must be set.
  BatchOrder(const RunConfig& config, int64_t data_index);

  // Sets the starting point: step `first_step` + 1 is the next step, and `first_sample` is the
  // number of its first sample.
  void Begin(int64_t first_step, int64_t first_sample);

  // Returns the numbers of the samples of a step on all ranks together.
  StepSamples SamplesOfStep(int64_t step) const;
  // Returns the number of micro-batches that each rank runs in `step`.
  int64_t RoundsOf(int64_t step) const;
  // Returns the index along dp of the ranks that use sample number `index` (from 0) of a step.
  int64_t DataIndexOf(int64_t step, int64_t index) const;
  // Returns the numbers of the samples in micro-batch `batch`. Micro-batches are counted from the
  // call of Begin.
  std::vector<int64_t> SamplesOf(int64_t batch) const;

  const BatchPlan& plan() const { return plan_; }

 private:
  // Returns the number of samples in one micro-batch of all data-parallel ranks together.
  int64_t SamplesPerRound() const { return micro_batch_ * ranks_; }

  const BatchPlan plan_;
  const int64_t micro_batch_;
  const int64_t ranks_;
  const int64_t data_index_;
  int64_t first_step_ = 0;
  // The number of samples used before Begin, minus the number that the batch plan assigns to the
  // steps up to first_step_. Nonzero only if an earlier process used other batch sizes.
  int64_t offset_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SAMPLES_BATCH_ORDER_H_
