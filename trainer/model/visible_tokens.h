// Finds the tokens of two context-parallel ranks that may see each other.
#ifndef TRAINYARD_TRAINER_MODEL_VISIBLE_TOKENS_H_
#define TRAINYARD_TRAINER_MODEL_VISIBLE_TOKENS_H_

#include <cstdint>

#include "trainer/ops/attention_part.h"

namespace trainyard::trainer {

// Queries of one rank and keys of another rank, as indices into the tokens of each rank.
struct VisibleTokens {
  int64_t first_query = 0;
  int64_t queries = 0;  // Number of queries; 0: no query sees a key.
  int64_t first_key = 0;
  int64_t keys = 0;
  AttentionMask mask = AttentionMask::kNone;
};

// Sizes that describe how a sample is divided among ranks, in the chunks of ContextParallel.
struct ContextShape {
  int64_t ranks = 1;
  int64_t length = 0;  // Number of tokens per sample on each rank.
  int64_t window = 0;  // See AttentionLimits; 0: no window.
};

// Returns the smallest halves of the two ranks' tokens that include every pair of a query and a key
// that it sees, given causality and the window. Without a window, every returned query sees every
// returned key, apart from the causal mask.
VisibleTokens TokensVisibleTo(int64_t rank, int64_t key_rank, const ContextShape& shape);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_VISIBLE_TOKENS_H_
