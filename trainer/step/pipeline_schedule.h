// The order in which a pipeline stage processes its micro-batches. Pure functions.
#ifndef TRAINYARD_TRAINER_STEP_PIPELINE_SCHEDULE_H_
#define TRAINYARD_TRAINER_STEP_PIPELINE_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "proto/layout/pipeline_place.h"

namespace trainyard::trainer {

struct StageAction {
  enum class Kind {
    kForward,
    kBackward,         // Input gradients; weight gradients too unless kWeightGradients follow.
    kWeightGradients,  // Weight gradients of the oldest backward pass without them.
  };

  Kind kind = Kind::kForward;
  int64_t chunk = 0;
  int64_t micro_batch = 0;

  bool operator==(const StageAction&) const = default;
};

// Returns the schedule of a stage. With one chunk per stage, it is one forward, one backward
// (Narayanan et al. 2019, PipeDream; arXiv 1806.03377). With several chunks, it is interleaved
// (Narayanan et al. 2021, arXiv 2104.04473), and micro_batches must be a multiple of the number of
// stages. zero_bubble: defers weight gradients to gaps in the schedule. At most as many are
// deferred as the first stage has micro-batches in flight (ZB-H1, Qi et al. 2024, arXiv
// 2401.10241).
std::vector<StageAction> TrainingSchedule(const PipelinePlace& place, int64_t micro_batches,
                                          bool zero_bubble);

// Forward passes only.
std::vector<StageAction> EvaluationSchedule(const PipelinePlace& place, int64_t micro_batches);

// A micro-batch at the input or output of a chunk.
struct ChunkPass {
  int64_t chunk = 0;
  int64_t micro_batch = 0;

  auto operator<=>(const ChunkPass&) const = default;
};

// Returns the passes of a stage's chunks in the order in which their activations arrive from the
// previous stage. That stage runs `schedule_before`.
std::vector<ChunkPass> ActivationArrivals(const PipelinePlace& place,
                                          const std::vector<StageAction>& schedule_before);
// Returns the passes in the order in which their gradients arrive from the next stage.
std::vector<ChunkPass> GradientArrivals(const PipelinePlace& place,
                                        const std::vector<StageAction>& schedule_after);

// These functions return the places of the neighbouring stages. The last stage is followed by the
// first.
PipelinePlace StageBefore(const PipelinePlace& place);
PipelinePlace StageAfter(const PipelinePlace& place);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_PIPELINE_SCHEDULE_H_
