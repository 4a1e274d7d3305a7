// Exchanges tokens for heads between context-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_HEAD_EXCHANGE_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_HEAD_EXCHANGE_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "proto/model/index_range.h"
#include "trainer/model/parallel/context_parallel.h"
#include "trainer/parallel/work.h"

namespace trainyard::trainer {

// A part of the attention of one rank: some samples and some of the key heads of the rank.
struct HeadPiece {
  IndexRange samples;
  IndexRange key_heads;
};

// Tensors [samples, length, heads, head size] of the tokens of this rank, which have the heads of
// all ranks. All have the same type. The elements of a head have no gaps. Each rank gets equally
// many consecutive heads of each tensor.
class TokenHeads {
 public:
  // `key_heads` is the number of key heads of each rank.
  TokenHeads(std::vector<torch::Tensor> tensors, int64_t ranks, int64_t key_heads)
      : tensors_(std::move(tensors)), ranks_(ranks), key_heads_(key_heads) {}

  // Returns the heads that `rank` has in a piece, as views of the tensors.
  std::vector<torch::Tensor> Of(int64_t rank, const HeadPiece& piece) const;

  // Returns the number of elements that a token has in a piece on one rank.
  int64_t WidthIn(const HeadPiece& piece) const;

 private:
  int64_t HeadsPerKeyHead(const torch::Tensor& tensor) const {
    return tensor.size(2) / ranks_ / key_heads_;
  }

  std::vector<torch::Tensor> tensors_;
  int64_t ranks_ = 1;
  int64_t key_heads_ = 1;
};

// Returns views of `rows`, [tokens, samples, width], with the shapes of `like`, except for the
// number of tokens: [samples, tokens, heads, head size]. A row has the heads of one tensor after
// those of the tensor before.
std::vector<torch::Tensor> HeadsInRows(const torch::Tensor& rows,
                                       const std::vector<torch::Tensor>& like);

// Heads of a piece that travel from the ranks of their tokens. A group of two ranks exchanges by
// AllGather, with which ranks on one host copy without multiprocessors
// (Communicator::EmptyForGather). The gathered tensors must be freed soon, because only a few have
// this property.
class PendingHeads {
 public:
  // Begins to collect the heads of this rank from the tokens of all ranks. `whole`: contiguous,
  // [tokens of all ranks, samples, width]. The tokens of a rank are neighbors in memory, so no rank
  // needs to rearrange what it receives.
  PendingHeads(const TokenHeads& tokens, const HeadPiece& piece, const ContextParallel& context,
               const torch::Tensor& whole);

  // `whole` is complete for work that is queued after this call.
  void Wait();

 private:
  torch::Tensor received_;  // Rows of the other of two ranks; undefined for more ranks.
  torch::Tensor place_;     // The place of received_ in `whole`.
  Work work_;
};

// The way back: heads of a piece that travel to the ranks of their tokens.
class PendingTokens {
 public:
  // Begins to send `whole`, which has the form of PendingHeads.
  PendingTokens(const ContextParallel& context, const HeadPiece& piece, torch::Tensor whole);

  // Waits, and writes the heads of all ranks in this piece to `tokens`.
  void Get(const TokenHeads& tokens);

 private:
  const ContextParallel& context_;
  HeadPiece piece_;
  torch::Tensor whole_;
  std::vector<torch::Tensor> received_;  // By rank; undefined for this rank.
  Work work_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_HEAD_EXCHANGE_H_
