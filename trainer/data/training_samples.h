// The training samples of one rank: which ones a step uses, and their tokens.
#ifndef TRAINYARD_TRAINER_DATA_TRAINING_SAMPLES_H_
#define TRAINYARD_TRAINER_DATA_TRAINING_SAMPLES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/data/batch_order.h"
#include "trainer/data/prefetcher.h"
#include "trainer/data/sample_source.h"
#include "trainer/data/skip_ranges.h"

namespace trainyard::trainer {

class TrainingSamples {
 public:
  // Opens the training data. skip: TRAINYARD_SKIP_SAMPLES. data_index: this rank's position along
  // dp. Throws what ParseSkipRanges, OpenTokens and SampleSource throw.
  TrainingSamples(const RunConfig& config, const std::string& skip, int64_t data_index);

  // Starts at step `first_step` + 1, whose first sample is number `first_sample`.
  void Begin(int64_t first_step, int64_t first_sample, const std::vector<SkipRange>& skip);

  // Prepares the batches of the steps after Begin. This must outlive the result and not change.
  std::unique_ptr<Prefetcher> Prefetch() const;

  // Number of micro-batches that each rank runs in `step`.
  int64_t RoundsOf(int64_t step) const { return batches_.RoundsOf(step); }
  const BatchPlan& plan() const { return batches_.plan(); }
  const SampleSource& source() const { return source_; }

  // Samples `first` to `end` - 1 as a range of positions, in the format of TRAINYARD_SKIP_SAMPLES.
  // Already skipped samples make positions larger than sample numbers, and the range may include
  // some of them.
  std::string PositionsOf(int64_t first, int64_t end) const;

 private:
  BatchOrder batches_;
  SampleSource source_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TRAINING_SAMPLES_H_
