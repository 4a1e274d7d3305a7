// One micro-batch on its way through a part of the model.
#ifndef TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_
#define TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/stash.h"
#include "trainer/ops/cross_entropy.h"
#include "trainer/ops/rotary.h"

namespace trainyard::trainer {

// Rows of activations are [batch * length, hidden], the tokens of a sample one after the other.
// Between the matrices of tensor-parallel ranks there may be fewer (TensorParallel::RowsHere).
struct MicroBatch {
  int64_t batch = 0;          // Samples.
  int64_t length = 0;         // Tokens of a sample that this rank has.
  const RotaryTable& rotary;  // Empty where the model has no rotary positions.
  Stash stash;
  torch::Tensor inputs = {};     // int64 [rows()]; for the embedding only.
  torch::Tensor positions = {};  // int64 [rows()], in their samples; for learned positions only.
  Targets targets = {};          // For the head only.

  int64_t rows() const { return batch * length; }
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_
