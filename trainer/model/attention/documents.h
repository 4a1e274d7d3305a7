// Finds documents inside samples. A token file consists of consecutive documents, each of which
// ends with the end-of-document token. A sample is a section of a token file, so it may contain
// several documents.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_DOCUMENTS_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_DOCUMENTS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// The effect of document boundaries on the model. By default, the boundaries have no effect.
struct DocumentOptions {
  int64_t end_token = -1;        // Token that ends each document.
  bool reset_attention = false;  // True: a token sees only tokens of its own document.
  bool reset_positions = false;  // True: positions count from the document's first token.

  bool any() const { return reset_attention || reset_positions; }
};

// Returns, for each token, the position in its sample at which its document begins, int64 [batch,
// length]. The position is 0 if the document began before the sample. `tokens` is int64 [batch,
// length].
torch::Tensor DocumentStarts(const torch::Tensor& tokens, int64_t end_token);

// Returns the weight of each prediction, fp32 [batch * length]. The weight is 0 if the input token
// is an end-of-document token, because the next document cannot be predicted from it; otherwise 1.
// `tokens` is int64 [batch, length + 1], the inputs and the targets.
torch::Tensor CountedPredictions(const torch::Tensor& tokens, int64_t end_token);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_DOCUMENTS_H_
