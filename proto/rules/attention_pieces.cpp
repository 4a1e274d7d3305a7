#include "proto/rules/attention_pieces.h"

#include <algorithm>
#include <cmath>

#include "proto/layout/layout_parts.h"

namespace trainyard {
namespace {

constexpr double kScoreBytes = 2;
constexpr double kExchangedPieceBytes = 1024.0 * 1024 * 1024;

// Divides the attention into at least `least` pieces of at most `bytes` each, if possible.
AttentionPieces Divide(const AttentionSize& size, double bytes, double least) {
  const double wanted = std::max(least, std::ceil(ScoresOf(size) * kScoreBytes / bytes));
  const double samples = std::min(wanted, static_cast<double>(size.samples));
  const double heads = std::min(std::ceil(wanted / samples), static_cast<double>(size.key_heads));
  return {static_cast<int64_t>(samples), static_cast<int64_t>(heads)};
}

}  // namespace

double ScoresOf(const AttentionSize& size) {
  return static_cast<double>(size.samples * size.query_heads) *
         static_cast<double>(size.query_length) * static_cast<double>(size.key_length);
}

AttentionPieces BackwardPiecesOf(const AttentionSize& size, int64_t most_bytes) {
  return Divide(size, static_cast<double>(most_bytes), 1);
}

AttentionPieces ExchangePiecesOf(const AttentionSize& size) {
  return Divide(size, kExchangedPieceBytes, 2);
}

AttentionSize LargestPiece(AttentionSize size, const AttentionPieces& pieces) {
  const int64_t share = size.query_heads / size.key_heads;
  size.samples = PartOf(size.samples, pieces.samples, 0).length;
  size.key_heads = PartOf(size.key_heads, pieces.key_heads, 0).length;
  size.query_heads = size.key_heads * share;
  return size;
}

int64_t BlocksOfTokens(int64_t length, int64_t share, int64_t most_bytes) {
  const double most = static_cast<double>(most_bytes) / kScoreBytes;
  const double tokens = static_cast<double>(length) * std::sqrt(static_cast<double>(share));
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(tokens / std::sqrt(most))));
}

}  // namespace trainyard
