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
    kBackward,         // Input gradients, and weight gradients unless they are deferred.
    kWeightGradients,  // Weight gradients of the oldest backward pass that still lacks them.
  };

  Kind kind = Kind::kForward;
  int64_t chunk = 0;
  int64_t micro_batch = 0;

  bool operator==(const StageAction&) const = default;
};

// Returns the schedule of a stage. With one chunk per stage, forward and backward passes alternate
// (1F1B, Narayanan et al. 2019, PipeDream; arXiv 1806.03377). With several chunks, the schedule is
// interleaved (Narayanan et al. 2021, arXiv 2104.04473), and micro_batches must be a multiple of
// the number of stages.
//
// zero_bubble: defers weight gradients to gaps in the schedule. The number of deferred gradients is
// at most the number of micro-batches that the first stage has in flight (ZB-H1, Qi et al. 2024,
// arXiv 2401.10241).
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

// Returns the passes of a stage in the order in which their activations arrive from the previous
// stage, which runs `schedule_before`.
std::vector<ChunkPass> ActivationArrivals(const PipelinePlace& place,
                                          const std::vector<StageAction>& schedule_before);
// Returns the passes of a stage in the order in which their gradients arrive from the next stage,
// which runs `schedule_after`.
std::vector<ChunkPass> GradientArrivals(const PipelinePlace& place,
                                        const std::vector<StageAction>& schedule_after);

// StageBefore and StageAfter return the places of the neighboring stages. The first stage follows
// the last.
PipelinePlace StageBefore(const PipelinePlace& place);
PipelinePlace StageAfter(const PipelinePlace& place);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_PIPELINE_SCHEDULE_H_
