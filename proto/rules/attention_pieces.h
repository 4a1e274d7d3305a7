// Divides attention so that its temporaries have a bounded size. Trainer and memory model use the
// same rules. Pure functions.
//
// cuDNN's deterministic backward pass stores the gradient of each score in 16 bits. For long
// samples this is the largest tensor of a step.
#ifndef TRAINYARD_PROTO_RULES_ATTENTION_PIECES_H_
#define TRAINYARD_PROTO_RULES_ATTENTION_PIECES_H_

#include <cstdint>

namespace trainyard {

// Score gradients of one call of ring attention, at most.
inline constexpr int64_t kMostScoreBytes = int64_t{2} << 30;

// The sizes of one attention.
struct AttentionSize {
  int64_t samples = 1;
  int64_t query_length = 1;
  int64_t key_length = 1;
  int64_t query_heads = 1;
  int64_t key_heads = 1;
};

// A piece has some of the samples or, if there are too few samples, some of the key heads with
// their query heads.
struct AttentionPieces {
  int64_t samples = 1;    // Number of parts of the samples.
  int64_t key_heads = 1;  // Number of parts of the key heads.
};

// Divides the backward pass of a ring's attention into as few pieces as possible, with at most
// `most_bytes` of score gradients each.
AttentionPieces BackwardPiecesOf(const AttentionSize& size, int64_t most_bytes = kMostScoreBytes);

// Divides the attention of ranks that exchange heads: at least two pieces, if possible, so that
// one travels while the other is computed, and at most 1 GiB of score gradients in a piece. On an
// H200, two pieces take 4 % longer than the whole, and four pieces 13 %.
AttentionPieces ExchangePiecesOf(const AttentionSize& size);

// Returns the size of the largest piece.
AttentionSize LargestPiece(AttentionSize size, const AttentionPieces& pieces);

// Returns the number of parts into which ring attention divides queries and keys of `length`
// tokens, so that the score gradients of a key head with `share` query heads take at most
// `most_bytes`.
int64_t BlocksOfTokens(int64_t length, int64_t share, int64_t most_bytes = kMostScoreBytes);

double ScoresOf(const AttentionSize& size);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_ATTENTION_PIECES_H_
