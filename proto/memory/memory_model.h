// Predicts the peak device memory of a training run from its settings. Pure functions.
#ifndef TRAINYARD_PROTO_MEMORY_MEMORY_MODEL_H_
#define TRAINYARD_PROTO_MEMORY_MEMORY_MODEL_H_

#include <algorithm>
#include <cstdint>

#include "proto/contract/run_config.h"
#include "proto/layout/pipeline_place.h"

namespace trainyard {

// The part of a prediction that must stay free (MemoryPrediction::Reserve).
inline constexpr double kMemoryMargin = 0.05;
// The largest amount by which the tensors of a dense run exceeded the prediction (MemoryErrorTest).
inline constexpr double kTensorError = 0.008;

// All values are bytes per GPU. The type is double, because the largest valid settings give values
// that exceed 64 bits.
struct MemoryPrediction {
  double weights = 0;  // Includes fp32 master weights, or the low 16 bits of them.
  double gradients = 0;
  double moments = 0;
  double activations = 0;  // Kept by the forward passes of all blocks.
  double dispatch = 0;     // Rows received and kept by experts; 0 without experts.
  double working = 0;      // Temporaries at the peak.
  double overhead = 0;     // CUDA and its libraries, assumed; and slots for copies between GPUs.
  double largest = 0;      // The largest temporary tensor, which `working` contains.

  // The peak that LibTorch's allocator reports.
  double Tensors() const {
    return weights + gradients + moments + activations + dispatch + working;
  }
  double Total() const { return Tensors() + overhead; }
  // Bytes that must stay free. LibTorch's allocator keeps freed memory in pieces. Pieces that are
  // too small for the largest tensor cannot be used for it, so that about as much memory is lost as
  // this tensor needs: LLaMA-3 8B with samples of 32,768 tokens lost 4.2 GB on H100 when its
  // largest tensor had 4.4 GB.
  double Reserve() const {
    return std::max(kMemoryMargin * Total(), largest + kTensorError * Total());
  }
  // The memory that a GPU must have.
  double Required() const { return Total() + Reserve(); }
};

// The number of slots in the memory that each rank of a group allocates for copies from the GPUs
// of the other ranks (trainer/parallel/peer_exchange.h).
inline constexpr int64_t kExchangeSlots = 3;

// The bytes of a slot: the rows of a micro-batch between matrix products. 0 if the layout does not
// divide these rows among tensor-parallel ranks.
int64_t ExchangeSlotBytes(const RunConfig& config);

// The bytes of a slot of two context-parallel ranks that exchange tokens for heads: twice the heads
// that a rank sends for a piece of the attention. 0 for other layouts. More ranks do not use slots.
int64_t ContextSlotBytes(const RunConfig& config);

// Predicts the peak of a training step of trainyard-trainer, on a GPU of the pipeline stage that
// needs the most memory. `config` must be resolved and valid. The result does not include
// fragmentation of the allocator.
//
// The result is within 1 % of the measured peaks of the dense bf16 runs in memory_model_test.cpp.
// With experts, the tensors kept by forward passes are exactly those of the trainer
// (tests/trainer/model/moe_memory_test.cpp). One exception: if experts are on several ranks, 1.25
// times the mean number of rows is assumed. Peaks with experts, latent attention or FP8 were not
// measured.
MemoryPrediction PredictTrainingMemory(const RunConfig& config);

// Predicts the memory of a GPU in this pipeline stage; stages count from 0.
MemoryPrediction PredictStageMemory(const RunConfig& config, int64_t stage);

// Returns the largest number of passes through one chunk whose activations a stage keeps at the
// same time (step/pipeline_schedule.cpp).
double PassesUnderWay(const RunConfig& config, const PipelinePlace& place);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MEMORY_MEMORY_MODEL_H_
