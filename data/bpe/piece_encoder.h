// Encodes pieces of text through caches.
#ifndef TRAINYARD_DATA_BPE_PIECE_ENCODER_H_
#define TRAINYARD_DATA_BPE_PIECE_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/bpe/piece_cache.h"
#include "data/bpe/piece_model.h"

namespace trainyard::data {

// Not thread-safe: each thread uses its own encoder. The caches affect only the speed.
class PieceEncoder {
 public:
  // The largest number of pieces of one call.
  static constexpr size_t kPiecesMax = 256;

  // `model` must outlive the encoder.
  explicit PieceEncoder(const PieceModel& model) : model_(model) {}

  // Appends the ids of consecutive pieces of `text`. The first one begins at `begin`, and ends[i]
  // is the end of a piece and the begin of the next one. `count` is at most kPiecesMax.
  void Encode(std::string_view text, size_t begin, const uint32_t* ends, size_t count,
              std::vector<uint32_t>* ids);

  // The size of the caches, at most 64 MiB.
  size_t cache_bytes() const { return cache_.bytes() + long_cache_.bytes(); }

 private:
  struct Piece {
    PieceCache::Key key;  // length 0 for a long piece
    uint64_t hash = 0;
    std::string_view text;
  };

  static Piece PieceOf(std::string_view text, size_t begin, size_t end);
  void EncodeMissing(const Piece& piece, std::vector<uint32_t>* ids);

  const PieceModel& model_;
  PieceCache cache_;
  LongPieceCache long_cache_;
  std::vector<uint32_t> piece_ids_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_PIECE_ENCODER_H_
