// Documents inside of samples: a sample is a stretch of the token files, in which documents follow
// each other, each ended by a token.
#ifndef TRAINYARD_TRAINER_MODEL_DOCUMENTS_H_
#define TRAINYARD_TRAINER_MODEL_DOCUMENTS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// The part that documents have in the model. By default none.
struct DocumentOptions {
  int64_t end_token = -1;        // Ends a document, which it belongs to.
  bool reset_attention = false;  // A token sees the tokens of its own document only.
  bool reset_positions = false;  // Positions count from the first token of a document.

  bool any() const { return reset_attention || reset_positions; }
};

// tokens: int64 [batch, length]. Position in its sample of the first token of each token's
// document, int64 [batch, length]. A document that began before the sample begins at 0.
torch::Tensor DocumentStarts(const torch::Tensor& tokens, int64_t end_token);

// tokens: int64 [batch, length + 1], inputs and targets. 0 for the predictions that follow an
// end-of-document token, 1 for all others: fp32 [batch * length].
torch::Tensor CountedPredictions(const torch::Tensor& tokens, int64_t end_token);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_DOCUMENTS_H_
