#include "data/bpe/piece_encoder.h"

#include <algorithm>
#include <cstring>

namespace trainyard::data {
namespace {

// Memory for more ids is freed after the piece.
constexpr size_t kKeptIds = 1 << 20;

constexpr size_t kKeyBytes = 16;

}  // namespace

PieceEncoder::Piece PieceEncoder::PieceOf(std::string_view text, size_t begin, size_t end) {
  Piece piece;
  const size_t length = end - begin;
  piece.text = std::string_view(text.data() + begin, length);
  if (length > PieceCache::kPieceBytesMax) {
    piece.hash = HashBytes(piece.text);
    return piece;
  }
  if (text.size() - begin >= kKeyBytes) {
    piece.key = PieceCache::KeyOf(text.data() + begin, length);
  } else {
    // Bytes behind the text must not be read.
    char last[kKeyBytes] = {};
    std::memcpy(last, text.data() + begin, length);
    piece.key = PieceCache::KeyOf(last, length);
  }
  piece.hash = piece.key.Hash();
  return piece;
}

void PieceEncoder::Encode(std::string_view text, size_t begin, const uint32_t* ends, size_t count,
                          std::vector<uint32_t>* ids) {
  Piece pieces[kPiecesMax];
  for (size_t i = 0; i < count; ++i) {
    pieces[i] = PieceOf(text, begin, ends[i]);
    cache_.Prefetch(pieces[i].hash);
    begin = ends[i];
  }
  // Ids are collected here because appending a few at a time to a vector is slow. A slot is always
  // copied as a whole.
  uint32_t found[kPiecesMax * PieceCache::kIdsMax];
  size_t found_count = 0;
  for (size_t i = 0; i < count; ++i) {
    const Piece& piece = pieces[i];
    const PieceCache::Slot* slot =
        piece.key.high == 0 ? nullptr : cache_.Find(piece.key, piece.hash);
    if (slot != nullptr) {
      std::memcpy(found + found_count, slot->ids, sizeof(slot->ids));
      found_count += slot->count();
      continue;
    }
    ids->insert(ids->end(), found, found + found_count);
    found_count = 0;
    EncodeMissing(piece, ids);
  }
  ids->insert(ids->end(), found, found + found_count);
}

void PieceEncoder::EncodeMissing(const Piece& piece, std::vector<uint32_t>* ids) {
  const LongPieceCache::Ids cached = long_cache_.Find(piece.text, piece.hash);
  if (cached.begin != nullptr) {
    ids->insert(ids->end(), cached.begin, cached.begin + cached.count);
    return;
  }
  piece_ids_.clear();
  model_.Encode(piece.text, &piece_ids_);
  ids->insert(ids->end(), piece_ids_.begin(), piece_ids_.end());
  const bool is_short = piece.key.high != 0 && piece_ids_.size() <= PieceCache::kIdsMax;
  if (is_short) {
    cache_.Insert(piece.key, piece.hash, piece_ids_.data(), piece_ids_.size());
  } else {
    long_cache_.Insert(piece.text, piece.hash, piece_ids_);
  }
  if (piece_ids_.capacity() > kKeptIds) piece_ids_ = std::vector<uint32_t>();
}

}  // namespace trainyard::data
