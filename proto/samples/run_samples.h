// The samples of each step of a run, as a pure function of its settings.
//
// The trainer reads the same samples: TrainingSamples (trainer/data) uses the same start,
// BatchOrder, ContinuedSpans and ShuffledWindow.
#ifndef TRAINYARD_PROTO_SAMPLES_RUN_SAMPLES_H_
#define TRAINYARD_PROTO_SAMPLES_RUN_SAMPLES_H_

#include <cstdint>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/samples/batch_order.h"
#include "proto/samples/blend_order.h"
#include "proto/samples/blend_spans.h"
#include "proto/samples/skip_ranges.h"

namespace trainyard {

// The point at which a run begins or resumes.
struct SamplesStart {
  int64_t step = 0;             // Steps completed.
  int64_t samples = 0;          // Samples used; the next sample's number.
  std::vector<SkipRange> skip;  // Positions that are left out of all samples.
  // The spans of the run that wrote the checkpoint; empty if there is none.
  std::vector<BlendSpan> spans = {};
};

// Returns the point in the form that the blend needs.
BlendStart BlendStartOf(const SamplesStart& start);

struct RunSample {
  int64_t number = 0;      // In the run, from 0.
  int64_t position = 0;    // In the sample order.
  int64_t data_index = 0;  // Index along dp of the ranks that use the sample.
  BlendOrder::Place place;
};

// Immutable.
class RunSamples {
 public:
  // Preconditions: the settings are valid and layout.dp is set.
  RunSamples(const RunConfig& config, SamplesStart start);

  // Returns the number of samples of a step on all ranks together.
  int64_t CountOf(int64_t step) const { return batches_.SamplesOfStep(step).count; }
  // Returns sample number `index` (from 0) of a step. Preconditions: the step is after that of the
  // start, and index < CountOf(step).
  RunSample At(int64_t step, int64_t index) const;

 private:
  const std::vector<SkipRange> skip_;
  BatchOrder batches_;
  const StagedOrder order_;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SAMPLES_RUN_SAMPLES_H_
