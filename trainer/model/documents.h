// Documents inside samples. A sample is a section of the token files, which consist of consecutive
// documents, each ended by a token.
#ifndef TRAINYARD_TRAINER_MODEL_DOCUMENTS_H_
#define TRAINYARD_TRAINER_MODEL_DOCUMENTS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Effect of documents on the model. By default none.
struct DocumentOptions {
  int64_t end_token = -1;        // Last token of a document.
  bool reset_attention = false;  // A token sees only tokens of its own document.
  bool reset_positions = false;  // Positions count from the document's first token.

  bool any() const { return reset_attention || reset_positions; }
};

// tokens: int64 [batch, length]. Returns the position in its sample of the first token of each
// token's document, int64 [batch, length]; 0 for a document that began before the sample.
torch::Tensor DocumentStarts(const torch::Tensor& tokens, int64_t end_token);

// tokens: int64 [batch, length + 1], inputs and targets. Returns fp32 [batch * length]: 0 for the
// prediction after an end-of-document token, else 1.
torch::Tensor CountedPredictions(const torch::Tensor& tokens, int64_t end_token);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_DOCUMENTS_H_
