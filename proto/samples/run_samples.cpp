#include "proto/samples/run_samples.h"

#include "proto/rules/blend_stages.h"

namespace trainyard {

BlendStart BlendStartOf(const SamplesStart& start) {
  const int64_t position = start.samples == 0 ? 0 : PositionOf(start.samples - 1, start.skip) + 1;
  return {start.step, start.samples, position, start.spans};
}

RunSamples::RunSamples(const RunConfig& config, SamplesStart start)
    : skip_(start.skip),
      batches_(config, /*data_index=*/0),
      order_(
          ContinuedSpans(BlendStagesOf(config.data).stages, batches_.plan(), BlendStartOf(start))) {
  batches_.Begin(start.step, start.samples);
}

RunSample RunSamples::At(int64_t step, int64_t index) const {
  RunSample sample;
  sample.number = batches_.SamplesOfStep(step).first + index;
  sample.position = PositionOf(sample.number, skip_);
  sample.data_index = batches_.DataIndexOf(step, index);
  sample.place = order_.At(sample.position);
  return sample;
}

}  // namespace trainyard
