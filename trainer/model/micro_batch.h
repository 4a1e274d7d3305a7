// One micro-batch on its way through a part of the model.
#ifndef TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_
#define TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_

#include <torch/types.h>

#include <cstdint>
#include <utility>

#include "trainer/model/stash.h"
#include "trainer/ops/cross_entropy.h"
#include "trainer/ops/rotary.h"

namespace trainyard::trainer {

// Rows of activations are [batch * length, hidden], the tokens of a sample one after the other.
// Between the matrices of tensor-parallel ranks there may be fewer (TensorParallel::RowsHere).
struct MicroBatch {
  int64_t batch = 0;   // Samples.
  int64_t length = 0;  // Tokens of a sample that this rank has.
  // Of the positions of a sample, or of all rows (ops/rotary.h); empty where the model has none.
  RotaryTable rotary;
  Stash stash;
  torch::Tensor inputs = {};     // int64 [rows()]; for the embedding only.
  torch::Tensor positions = {};  // int64 [rows()], in their samples; for learned positions only.
  Targets targets = {};          // For the head only.
  // Where samples are packed with documents (documents.h), else undefined.
  // int64 [batch, length]: position in its sample of the first token of each token's document.
  torch::Tensor document_starts = {};
  torch::Tensor document_bias = {};  // Of them, where cuDNN computes (ops/visible_keys.h).
  // int64 [rows()]: positions that count from the first token of a document. Undefined: those in
  // the sample (ContextParallel::PositionsOf).
  torch::Tensor position_ids = {};

  int64_t rows() const { return batch * length; }

  // The same tokens with a stash of their own.
  MicroBatch With(Stash own) const {
    MicroBatch same{batch, length, rotary, std::move(own), inputs, positions, targets};
    same.document_starts = document_starts;
    same.document_bias = document_bias;
    same.position_ids = position_ids;
    return same;
  }
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_
