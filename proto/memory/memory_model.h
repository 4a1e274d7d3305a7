// Peak device memory of a training run: pure functions of the settings.
#ifndef TRAINYARD_PROTO_MEMORY_MEMORY_MODEL_H_
#define TRAINYARD_PROTO_MEMORY_MEMORY_MODEL_H_

#include "proto/contract/run_config.h"
#include "proto/layout/pipeline_place.h"

namespace trainyard {

// Bytes per GPU. Doubles, because settings at their limits exceed 64 bits.
struct MemoryPrediction {
  double weights = 0;  // Includes the low bits of bf16 weights' fp32 master weights.
  double gradients = 0;
  double moments = 0;
  double activations = 0;  // Kept by the forward passes of all blocks.
  double dispatch = 0;     // Rows received and kept by experts; 0 without experts.
  double working = 0;      // Temporaries at the moment with the highest total.
  double overhead = 0;     // CUDA and its libraries; an assumption.

  // The peak reported by LibTorch's allocator.
  double Tensors() const {
    return weights + gradients + moments + activations + dispatch + working;
  }
  double Total() const { return Tensors() + overhead; }
};

// Peak of a training step of trainyard-trainer, on a GPU of the pipeline stage that needs the most.
// `config` is resolved and valid. Within 1 % of the measured peaks of the bf16 runs in
// memory_model_test.cpp. Does not include fragmentation of the allocator. No measurement covers
// experts, latent attention and FP8, for which the rules of the trainer are assumed: fused
// attention, gradients and moments in fp32, logits in parts.
MemoryPrediction PredictTrainingMemory(const RunConfig& config);

// Predicts the memory of a GPU of this pipeline stage, counted from 0.
MemoryPrediction PredictStageMemory(const RunConfig& config, int64_t stage);

// Number of passes through one chunk whose activations a stage keeps at the same time
// (step/pipeline_schedule.cpp).
double PassesUnderWay(const RunConfig& config, const PipelinePlace& place);

// Relative error to allow for in a prediction.
inline constexpr double kMemoryMargin = 0.05;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MEMORY_MEMORY_MODEL_H_
