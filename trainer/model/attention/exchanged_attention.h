// Causal attention when context-parallel ranks exchange tokens for heads (Ulysses, arXiv
// 2309.14509): each rank computes the attention of whole samples for an equal share of the heads.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_EXCHANGED_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_EXCHANGED_ATTENTION_H_

#include <torch/types.h>

#include <vector>

#include "trainer/model/attention/context_attention_tensors.h"
#include "trainer/model/attention/head_exchange.h"
#include "trainer/ops/attention/attention_part.h"

namespace trainyard::trainer {

// Starts the exchanges of the forward pass and computes it. In the results, `whole` is defined, and
// log_sum_exp is [batch, query heads of this rank, tokens of a sample].
ContextAttentionResult ExchangedAttentionForward(const AttentionInputs& inputs,
                                                 const ContextParallel& context,
                                                 const AttentionForm& form, torch::Tensor& out);

// A backward pass whose first exchange runs while the caller computes.
class ExchangedAttentionBackward {
 public:
  // Begins to exchange `dout`. If `kept` has no tensors of whole samples, it also begins to
  // exchange the inputs and the output again. `kept`, its tensors and `context` must outlive this
  // object.
  ExchangedAttentionBackward(const torch::Tensor& dout, const ContextAttentionKept& kept,
                             const ContextParallel& context);

  // Writes every element of the gradients.
  void Finish(Reproducible reproducible, const AttentionPartGradients& gradients);

 private:
  const ContextAttentionKept& kept_;
  const ContextParallel& context_;
  std::vector<HeadPiece> pieces_;
  WholeSamples whole_;
  torch::Tensor dout_;
  std::vector<Work> arriving_;  // Several for each piece.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_EXCHANGED_ATTENTION_H_
