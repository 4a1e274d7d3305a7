// The state of one micro-batch while it passes through a part of the model.
#ifndef TRAINYARD_TRAINER_MODEL_PASS_MICRO_BATCH_H_
#define TRAINYARD_TRAINER_MODEL_PASS_MICRO_BATCH_H_

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trainer/model/pass/expert_balance.h"
#include "trainer/model/pass/expert_choice.h"
#include "trainer/model/pass/stash.h"
#include "trainer/ops/attention/rotary.h"
#include "trainer/ops/fp8/fp8.h"
#include "trainer/ops/loss/cross_entropy.h"

namespace trainyard::trainer {

// Activations are rows [batch * length, hidden], with the tokens of each sample in order. Between
// matrix products, a tensor-parallel rank may have only some of the rows
// (TensorParallel::RowsHere).
struct MicroBatch {
  // Tokens that a module of multi-token prediction uses instead of `inputs` and `targets`.
  struct Ahead {
    torch::Tensor inputs;
    Targets targets;
  };

  int64_t batch = 0;   // Samples.
  int64_t length = 0;  // Number of tokens per sample on this rank.
  // Table for the positions either of one sample or of all rows (ops/rotary.h). Empty if the model
  // has no rotary positions.
  RotaryTable rotary;
  Stash stash;
  torch::Tensor inputs = {};     // int64 [rows()]; set only for the embedding.
  torch::Tensor positions = {};  // int64 [rows()], in the sample; set only for learned positions.
  Targets targets = {};          // Set only for the head.
  // int64 [batch, length]: for each token, the position in its sample at which its document begins
  // (documents.h). Has the tokens of whole samples if ranks exchange tokens for heads. Undefined if
  // tokens may see other documents.
  torch::Tensor document_starts = {};
  torch::Tensor document_bias = {};  // For cuDNN (ops/visible_keys.h).
  // int64 [rows()]: positions counted from the first token of the document. If undefined, positions
  // are counted from the start of the sample (ContextParallel::PositionsOf).
  torch::Tensor position_ids = {};
  // For models with experts: this micro-batch's share of the micro-batches of a step over all
  // data-parallel ranks, the state of the routers, and the choice of the latest router. If
  // `repeats` is true, the pass recomputes an earlier pass, so a router reuses the choice and
  // counts nothing.
  double share = 1;
  ExpertBalance balance = {};
  ExpertChoice choice = {};
  bool repeats = false;
  // One per module of multi-token prediction; set only for the head in a training pass.
  std::vector<Ahead> ahead = {};
  // For products in FP8: the scales of the inputs in this pass, by the parameter of the matrix. The
  // backward pass casts the inputs with the same scales. If `records_amax` is false, as in an
  // evaluation, the pass does not influence later scales.
  std::map<int64_t, Fp8Scale> input_scales = {};
  bool records_amax = false;

  int64_t rows() const { return batch * length; }

  // Returns a copy that uses another stash.
  MicroBatch With(Stash own) const {
    MicroBatch same{batch, length, rotary, std::move(own), inputs, positions, targets};
    same.document_starts = document_starts;
    same.document_bias = document_bias;
    same.position_ids = position_ids;
    same.share = share;
    same.balance = balance;
    same.records_amax = records_amax;
    return same;
  }
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PASS_MICRO_BATCH_H_
