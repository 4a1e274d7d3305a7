#include "proto/samples/batch_order.h"

namespace trainyard {

BatchOrder::BatchOrder(const RunConfig& config, int64_t data_index)
    : plan_(config.train),
      micro_batch_(config.layout.micro_batch),
      ranks_(config.layout.dp),
      data_index_(data_index) {}

void BatchOrder::Begin(int64_t first_step, int64_t first_sample) {
  first_step_ = first_step;
  offset_ = first_sample - plan_.SamplesThrough(first_step);
}

StepSamples BatchOrder::SamplesOfStep(int64_t step) const {
  const StepSamples planned = plan_.OfStep(step);
  return {offset_ + planned.first, planned.count};
}

int64_t BatchOrder::RoundsOf(int64_t step) const {
  return plan_.OfStep(step).count / SamplesPerRound();
}

int64_t BatchOrder::DataIndexOf(int64_t step, int64_t index) const {
  return index / (RoundsOf(step) * micro_batch_);
}

// A round is one micro-batch of every data-parallel rank. Each step consists of whole rounds, so
// rounds can be numbered consecutively over all steps.
std::vector<int64_t> BatchOrder::SamplesOf(int64_t batch) const {
  const int64_t begun = plan_.SamplesThrough(first_step_) + batch * SamplesPerRound();
  const int64_t step = plan_.StepOfSample(begun), of_step = plan_.OfStep(step).first;
  const int64_t round = (begun - of_step) / SamplesPerRound();
  const int64_t first =
      SamplesOfStep(step).first + (data_index_ * RoundsOf(step) + round) * micro_batch_;
  std::vector<int64_t> numbers(micro_batch_);
  for (int64_t i = 0; i < micro_batch_; ++i) numbers[i] = first + i;
  return numbers;
}

}  // namespace trainyard
