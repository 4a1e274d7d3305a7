// The tokens ahead of the usual inputs and targets, for multi-token prediction. Pure functions.
#ifndef TRAINYARD_TRAINER_MODEL_TOKENS_AHEAD_H_
#define TRAINYARD_TRAINER_MODEL_TOKENS_AHEAD_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Tensors of whole samples, [batch, length].
struct TokensAhead {
  torch::Tensor inputs;   // int64; the token `distance` positions after the usual input.
  torch::Tensor targets;  // int64; the token after this input.
  torch::Tensor weights;  // Loss weights. 0 if the sample has no such target.
};

// `tokens` is int64 [batch, length + 1], and `weights`, [batch, length], are the loss weights of
// the usual predictions. A prediction has the weight of the usual prediction of the same target.
TokensAhead LookAhead(const torch::Tensor& tokens, const torch::Tensor& weights, int64_t distance);

// Sets the weights to 0 where the input is in a different document than the usual input. `starts`
// is DocumentStarts of the inputs, [batch, length].
void MaskOtherDocuments(const torch::Tensor& starts, int64_t distance, TokensAhead& ahead);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_TOKENS_AHEAD_H_
