// Device memory that a training run needs at its peak: pure functions of the settings.
#ifndef TRAINYARD_PROTO_CONTRACT_MEMORY_MODEL_H_
#define TRAINYARD_PROTO_CONTRACT_MEMORY_MODEL_H_

#include "proto/contract/pipeline_place.h"
#include "proto/contract/run_config.h"

namespace trainyard {

// Bytes on each GPU. Doubles, because settings at their limits exceed 64 bits.
struct MemoryPrediction {
  double weights = 0;  // With the low bits of bf16 weights' fp32 master weights.
  double gradients = 0;
  double moments = 0;
  double activations = 0;  // Kept by the forward passes of all blocks.
  double dispatch = 0;     // Rows that experts have got and keep; 0 without experts.
  double working = 0;      // Temporaries at the moment that needs most beside the above.
  double overhead = 0;     // CUDA and its libraries; an assumption.

  // The peak that LibTorch's allocator reports.
  double Tensors() const {
    return weights + gradients + moments + activations + dispatch + working;
  }
  double Total() const { return Tensors() + overhead; }
};

// Peak of a step of trainyard-trainer on the GPU of the pipeline stage that needs most. `config` is
// resolved and keeps the rules. Within 1 % of measured peaks of the bf16 runs in
// memory_model_test.cpp; fragmentation of the allocator comes on top.
MemoryPrediction PredictTrainingMemory(const RunConfig& config);

// The same of the GPUs of one stage, from 0.
MemoryPrediction PredictStageMemory(const RunConfig& config, int64_t stage);

// Passes through one chunk whose activations a stage keeps at a time (step/pipeline_schedule.cpp).
double PassesUnderWay(const RunConfig& config, const PipelinePlace& place);

// Part of a prediction by which it may be wrong.
inline constexpr double kMemoryMargin = 0.05;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_MEMORY_MODEL_H_
