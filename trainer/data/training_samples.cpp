#include "trainer/data/training_samples.h"

#include "proto/contract/token_format.h"
#include "trainer/data/open_tokens.h"
#include "trainer/data/skip_setting.h"

namespace trainyard::trainer {
namespace {

// Windows per file whose token ids are checked at the start. 256 reads take less than a second,
// even on network storage.
constexpr int64_t kWindowsChecked = 256;

SampleSourceOptions TrainingOrder(const RunConfig& config, const std::string& skip) {
  SampleSourceOptions options;
  options.seq_length = config.train.seq_length;
  options.vocab_size = config.model.vocab_size;
  options.seed = config.data.seed;
  options.order = SampleOrder::kShuffled;
  options.skip = ParseSkipRanges(skip);
  return options;
}

}  // namespace

TrainingSamples::TrainingSamples(const RunConfig& config, const std::string& skip,
                                 int64_t data_index)
    : stages_(BlendStagesOf(config.data).stages),
      batches_(config, data_index),
      source_(OpenTokens(config.data, token_format::kTrainSplit), TrainingOrder(config, skip)) {
  source_.CheckTokens(kWindowsChecked);
}

void TrainingSamples::Begin(const SamplesStart& start) {
  batches_.Begin(start.step, start.samples);
  source_.SetSkip(start.skip);
  source_.SetSpans(ContinuedSpans(stages_, batches_.plan(), BlendStartOf(start)));
}

std::unique_ptr<Prefetcher> TrainingSamples::Prefetch() const {
  return std::make_unique<Prefetcher>(
      source_, [this](int64_t batch) { return batches_.SamplesOf(batch); }, 0);
}

std::string TrainingSamples::PositionsOf(int64_t first, int64_t end) const {
  return std::to_string(source_.PositionOf(first)) + ":" +
         std::to_string(source_.PositionOf(end - 1) + 1);
}

}  // namespace trainyard::trainer
