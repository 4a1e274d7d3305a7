// The ranks that share the tokens of each sample.
#ifndef TRAINYARD_TRAINER_MODEL_PARALLEL_CONTEXT_PARALLEL_H_
#define TRAINYARD_TRAINER_MODEL_PARALLEL_CONTEXT_PARALLEL_H_

#include <torch/types.h>

#include <cstdint>

#include "proto/contract/layout_config.h"
#include "proto/rules/attention_pieces.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Divides the tokens of each sample among the ranks. If the ranks exchange tokens for heads, rank r
// has part r of `size` equal parts. Otherwise, a sample has 2 * size chunks of equal length, and
// rank r has chunks r and 2 * size - 1 - r ("zigzag"), so that causal attention is an equal amount
// of work for every rank.
class ContextParallel {
 public:
  ContextParallel() = default;  // One rank.
  // The communicator must outlive this object. `exchange` must not be kAuto.
  ContextParallel(Communicator& group, ContextExchange exchange,
                  int64_t most_score_bytes = kMostScoreBytes)
      : group_(group.size() > 1 ? &group : nullptr),
        exchange_(exchange),
        most_score_bytes_(most_score_bytes) {}

  int64_t size() const { return group_ == nullptr ? 1 : group_->size(); }
  int64_t index() const { return group_ == nullptr ? 0 : group_->rank(); }
  ContextExchange exchange() const { return exchange_; }
  // True if each rank computes the attention of whole samples for some of the heads.
  bool exchanges_heads() const { return size() > 1 && exchange_ == ContextExchange::kA2a; }
  // The size of the score gradients of one call, at most (attention_pieces.h). Tests use less.
  int64_t most_score_bytes() const { return most_score_bytes_; }
  // Must not be called if there is only one rank.
  Communicator& group() const { return *group_; }

  // Returns the positions of the tokens of `rank` in a sample of `length` tokens: int64 [length /
  // size], ascending.
  torch::Tensor PositionsOf(int64_t rank, int64_t length, torch::Device device) const;

 private:
  Communicator* group_ = nullptr;  // Null if there is only one rank.
  ContextExchange exchange_ = ContextExchange::kP2p;
  int64_t most_score_bytes_ = kMostScoreBytes;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARALLEL_CONTEXT_PARALLEL_H_
