#include "trainer/model/attention/visible_tokens.h"

#include "proto/layout/layout_parts.h"

namespace trainyard::trainer {
namespace {

// Returns the index of the chunk that is the second half of a rank's tokens. The first half is the
// chunk with index `rank`.
int64_t LateChunk(int64_t rank, const ContextShape& shape) { return 2 * shape.ranks - 1 - rank; }

// True if the window of some query in query_chunk includes a key in key_chunk. key_chunk must be
// the earlier of the two chunks.
bool Reaches(int64_t query_chunk, int64_t key_chunk, const ContextShape& shape) {
  const int64_t nearest = (query_chunk - key_chunk - 1) * (shape.length / 2) + 1;
  return shape.window == 0 || nearest < shape.window;
}

}  // namespace

// If the ranks differ, every chunk of keys lies completely before or completely after every chunk
// of queries.
VisibleTokens TokensVisibleTo(int64_t rank, int64_t key_rank, const ContextShape& shape) {
  const int64_t length = shape.length, half = length / 2, late = LateChunk(rank, shape);
  if (key_rank == rank) return {0, length, 0, length, AttentionMask::kCausal};
  if (key_rank < rank) {  // Only the first half of the keys is visible.
    if (!Reaches(rank, key_rank, shape)) return {};
    return {0, Reaches(late, key_rank, shape) ? length : half, 0, half};
  }
  // Only the second half of the queries sees the keys.
  if (!Reaches(late, LateChunk(key_rank, shape), shape)) return {};
  if (!Reaches(late, key_rank, shape)) return {half, half, half, half};
  return {half, half, 0, length};
}

// With a causal mask, a block on the diagonal is causal, and every other block is either completely
// visible or invisible.
std::vector<VisibleTokens> BlocksOf(const VisibleTokens& tokens, int64_t blocks) {
  std::vector<VisibleTokens> parts;
  const bool is_causal = tokens.mask == AttentionMask::kCausal;
  for (int64_t query = 0; query < blocks; ++query) {
    const IndexRange queries = PartOf(tokens.queries, blocks, query);
    for (int64_t key = 0; key < (is_causal ? query + 1 : blocks); ++key) {
      const IndexRange keys = PartOf(tokens.keys, blocks, key);
      if (queries.length == 0 || keys.length == 0) continue;
      const bool is_diagonal = is_causal && key == query;
      parts.push_back({tokens.first_query + queries.first, queries.length,
                       tokens.first_key + keys.first, keys.length,
                       is_diagonal ? AttentionMask::kCausal : AttentionMask::kNone});
    }
  }
  return parts;
}

}  // namespace trainyard::trainer
