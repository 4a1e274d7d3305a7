// Causal attention when context-parallel ranks exchange tokens for heads (Ulysses, arXiv
// 2309.14509): each rank computes the attention of whole samples for an equal share of the heads.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_EXCHANGED_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_EXCHANGED_ATTENTION_H_

#include <torch/types.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "proto/model/index_range.h"
#include "trainer/model/attention/context_attention_tensors.h"
#include "trainer/model/attention/head_exchange.h"
#include "trainer/ops/attention/attention_part.h"

namespace trainyard::trainer {

// The attention of a rank is divided into parts of its samples, and parts may be divided into
// pieces with some of the heads (attention_pieces.h). The parts allow the caller to compute, or to
// use what has arrived, while other parts travel.

// A forward pass. The caller calls Send for each part in order, Compute, and Receive for each part
// in order. The arguments of the constructor must outlive this object.
class ExchangedAttentionForward {
 public:
  ExchangedAttentionForward(const AttentionInputs& inputs, const ContextParallel& context,
                            const AttentionForm& form, const torch::Tensor& out);

  const std::vector<IndexRange>& parts() const { return parts_; }
  // Begins to exchange the inputs of the samples in a part.
  void Send(size_t part);
  // Computes all parts, and begins to exchange their outputs.
  void Compute();
  // Writes the outputs of the samples in a part.
  void Receive(size_t part);
  // log_sum_exp is [batch, query heads of this rank, tokens of a sample].
  ContextAttentionResult TakeResult() { return std::move(result_); }

 private:
  const AttentionInputs& inputs_;
  const ContextParallel& context_;
  const AttentionForm& form_;
  const torch::Tensor out_;
  const std::vector<IndexRange> parts_;
  const std::vector<HeadPiece> pieces_;
  ContextAttentionResult result_;
  std::vector<PendingHeads> arriving_;  // By piece.
  std::vector<PendingTokens> leaving_;  // By piece.
};

// A backward pass. The caller calls Compute, and Receive for each part in order. The arguments of
// the constructor must outlive this object.
class ExchangedAttentionBackward {
 public:
  // Begins to exchange `dout`, so that it travels while the caller computes. If `kept` has no
  // tensors of whole samples, it also begins to exchange the inputs and the output again.
  ExchangedAttentionBackward(const torch::Tensor& dout, const ContextAttentionKept& kept,
                             const ContextParallel& context);

  const std::vector<IndexRange>& parts() const { return parts_; }
  // Computes all parts, and begins to exchange their gradients.
  void Compute(Reproducible reproducible);
  // Writes the gradients of the samples in a part.
  void Receive(size_t part, const AttentionPartGradients& gradients);

 private:
  const ContextAttentionKept& kept_;
  const ContextParallel& context_;
  const std::vector<IndexRange> parts_;
  const std::vector<HeadPiece> pieces_;
  WholeSamples whole_;
  torch::Tensor dout_;
  std::vector<PendingHeads> arriving_;  // Several for each piece.
  std::vector<PendingTokens> leaving_;  // By piece.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_EXCHANGED_ATTENTION_H_
