#include "trainer/model/visible_tokens.h"

namespace trainyard::trainer {
namespace {

// Number of the chunk that is the second half of a rank's tokens; the first half has the rank's.
int64_t LateChunk(int64_t rank, const ContextShape& shape) { return 2 * shape.ranks - 1 - rank; }

// True when some query of a chunk has a key of an earlier one in its window.
bool Reaches(int64_t query_chunk, int64_t key_chunk, const ContextShape& shape) {
  const int64_t nearest = (query_chunk - key_chunk - 1) * (shape.length / 2) + 1;
  return shape.window == 0 || nearest < shape.window;
}

}  // namespace

// Of another rank's tokens all or none come before a chunk of this rank's.
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
