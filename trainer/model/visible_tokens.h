// Tokens of two context-parallel ranks that may see each other.
#ifndef TRAINYARD_TRAINER_MODEL_VISIBLE_TOKENS_H_
#define TRAINYARD_TRAINER_MODEL_VISIBLE_TOKENS_H_

#include <cstdint>

#include "trainer/ops/attention_part.h"

namespace trainyard::trainer {

// Queries of one rank and keys of another, counted from the first that the two ranks have.
struct VisibleTokens {
  int64_t first_query = 0;
  int64_t queries = 0;  // 0: no query sees a key.
  int64_t first_key = 0;
  int64_t keys = 0;
  AttentionMask mask = AttentionMask::kNone;
};

// Tokens of a sample over ranks, in chunks as ContextParallel has them.
struct ContextShape {
  int64_t ranks = 1;
  int64_t length = 0;  // Tokens of a sample on a rank.
  int64_t window = 0;  // As AttentionLimits has it; 0: all.
};

// The smallest halves of both ranks' tokens that hold every pair of a query and a key that it sees
// by causality and window. Without a window every query sees every key of them, but for the mask.
VisibleTokens TokensVisibleTo(int64_t rank, int64_t key_rank, const ContextShape& shape);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_VISIBLE_TOKENS_H_
