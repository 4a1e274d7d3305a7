#include "trainer/model/visible_tokens.h"

namespace trainyard::trainer {
namespace {

// Index of the chunk with the second half of a rank's tokens. The first half is chunk `rank`.
int64_t LateChunk(int64_t rank, const ContextShape& shape) { return 2 * shape.ranks - 1 - rank; }

// True if some query of a chunk has a key of an earlier chunk in its window.
bool Reaches(int64_t query_chunk, int64_t key_chunk, const ContextShape& shape) {
  const int64_t nearest = (query_chunk - key_chunk - 1) * (shape.length / 2) + 1;
  return shape.window == 0 || nearest < shape.window;
}

}  // namespace

// For another rank, each chunk of keys comes entirely before or entirely after a chunk of queries.
VisibleTokens TokensVisibleTo(int64_t rank, int64_t key_rank, const ContextShape& shape) {
  const int64_t length = shape.length, half = length / 2, late = LateChunk(rank, shape);
  if (key_rank == rank) return {0, length, 0, length, AttentionMask::kCausal};
  if (key_rank < rank) {  // The first half of the keys.
    if (!Reaches(rank, key_rank, shape)) return {};
    return {0, Reaches(late, key_rank, shape) ? length : half, 0, half};
  }
  // The second half of the queries.
  if (!Reaches(late, LateChunk(key_rank, shape), shape)) return {};
  if (!Reaches(late, key_rank, shape)) return {half, half, half, half};
  return {half, half, 0, length};
}

}  // namespace trainyard::trainer
