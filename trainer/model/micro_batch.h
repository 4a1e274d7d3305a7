// State of one micro-batch in its passes through a part of the model.
#ifndef TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_
#define TRAINYARD_TRAINER_MODEL_MICRO_BATCH_H_

#include <torch/types.h>

#include <cstdint>
#include <utility>

#include "trainer/model/stash.h"
#include "trainer/ops/cross_entropy.h"
#include "trainer/ops/rotary.h"

namespace trainyard::trainer {

// Rows of activations are [batch * length, hidden], with the tokens of each sample in order.
// Between the matrices of tensor-parallel ranks there may be fewer rows (TensorParallel::RowsHere).
struct MicroBatch {
  int64_t batch = 0;   // Samples.
  int64_t length = 0;  // Tokens per sample on this rank.
  // For the positions of one sample or of all rows (ops/rotary.h); empty without rotary positions.
  RotaryTable rotary;
  Stash stash;
  torch::Tensor inputs = {};     // int64 [rows()]; only for the embedding.
  torch::Tensor positions = {};  // int64 [rows()], in the sample; only for learned positions.
  Targets targets = {};          // Only for the head.
  // int64 [batch, length]: position in its sample of the first token of each token's document
  // (documents.h); undefined unless attention is limited to documents.
  torch::Tensor document_starts = {};
  torch::Tensor document_bias = {};  // For cuDNN (ops/visible_keys.h).
  // int64 [rows()]: positions counted from the document's first token. Undefined: positions in the
  // sample (ContextParallel::PositionsOf).
  torch::Tensor position_ids = {};

  int64_t rows() const { return batch * length; }

  // Copy with another stash.
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
