// For attention between two context-parallel ranks: finds which queries of one rank may see which
// keys of the other rank.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_VISIBLE_TOKENS_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_VISIBLE_TOKENS_H_

#include <cstdint>
#include <vector>

#include "trainer/ops/attention/attention_part.h"

namespace trainyard::trainer {

// A range of one rank's queries and a range of another rank's keys. Each range contains indices
// into the tokens of its own rank.
struct VisibleTokens {
  int64_t first_query = 0;
  int64_t queries = 0;  // Number of queries; 0: no query sees a key.
  int64_t first_key = 0;
  int64_t keys = 0;
  AttentionMask mask = AttentionMask::kNone;
};

// The sizes that determine the chunks of ContextParallel.
struct ContextShape {
  int64_t ranks = 1;
  int64_t length = 0;  // Number of tokens per sample on each rank.
  int64_t window = 0;  // See AttentionLimits; 0: no window.
};

// Returns the queries of `rank` and the keys of `key_rank` that take part in attention: all, one
// half (a chunk) or none of each rank's tokens. These are the smallest ranges that include every
// key seen by some query, given causality and the window. Without a window, every returned query
// sees every returned key, apart from the causal mask.
VisibleTokens TokensVisibleTo(int64_t rank, int64_t key_rank, const ContextShape& shape);

// Divides the tokens into blocks of at most `blocks` equal parts of queries and of keys. Every
// visible pair of a query and a key is in one block.
std::vector<VisibleTokens> BlocksOf(const VisibleTokens& tokens, int64_t blocks);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_VISIBLE_TOKENS_H_
