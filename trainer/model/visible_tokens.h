// Tokens of two context-parallel ranks that may see each other.
#ifndef TRAINYARD_TRAINER_MODEL_VISIBLE_TOKENS_H_
#define TRAINYARD_TRAINER_MODEL_VISIBLE_TOKENS_H_

#include <cstdint>

#include "trainer/ops/attention_part.h"

namespace trainyard::trainer {

// Queries of one rank and keys of another, as indices within each rank's tokens.
struct VisibleTokens {
  int64_t first_query = 0;
  int64_t queries = 0;  // 0: no query sees a key.
  int64_t first_key = 0;
  int64_t keys = 0;
  AttentionMask mask = AttentionMask::kNone;
};

// Lengths of a sample's split over ranks, in the chunks of ContextParallel.
struct ContextShape {
  int64_t ranks = 1;
  int64_t length = 0;  // Tokens per sample on a rank.
  int64_t window = 0;  // See AttentionLimits; 0: all.
};

// The smallest halves of both ranks' tokens that contain every pair of a query and a key visible to
// it by causality and window. Without a window every query sees every key, except for the mask.
VisibleTokens TokensVisibleTo(int64_t rank, int64_t key_rank, const ContextShape& shape);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_VISIBLE_TOKENS_H_
