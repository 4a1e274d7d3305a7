// Determines which training samples one rank uses in each step, and reads their tokens.
#ifndef TRAINYARD_TRAINER_DATA_TRAINING_SAMPLES_H_
#define TRAINYARD_TRAINER_DATA_TRAINING_SAMPLES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/samples/batch_order.h"
#include "proto/samples/run_samples.h"
#include "trainer/data/prefetcher.h"
#include "trainer/data/sample_source.h"

namespace trainyard::trainer {

// Begin must be called before the samples are used.
class TrainingSamples {
 public:
  // Opens the training data. `skip` is the value of TRAINYARD_SKIP_SAMPLES; `data_index` is this
  // rank's index along dp. Throws the errors of ParseSkipRanges, OpenTokens and SampleSource.
  TrainingSamples(const RunConfig& config, const std::string& skip, int64_t data_index);

  void Begin(const SamplesStart& start);

  // Starts preparing the batches of the steps after Begin. This object must outlive the result and
  // must not change meanwhile.
  std::unique_ptr<Prefetcher> Prefetch() const;

  // Returns the number of micro-batches that each rank runs in `step`.
  int64_t RoundsOf(int64_t step) const { return batches_.RoundsOf(step); }
  const BatchPlan& plan() const { return batches_.plan(); }
  const SampleSource& source() const { return source_; }

  // Returns samples `first` to `end` - 1 as a range of positions, in the format of
  // TRAINYARD_SKIP_SAMPLES. If samples were skipped before, positions are larger than sample
  // numbers, and the range may include skipped positions.
  std::string PositionsOf(int64_t first, int64_t end) const;

 private:
  const std::vector<BlendStage> stages_;
  BatchOrder batches_;
  SampleSource source_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TRAINING_SAMPLES_H_
