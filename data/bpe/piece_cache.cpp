#include "data/bpe/piece_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace trainyard::data {
namespace {

// Bytes of a word that belong to a piece, if the piece has `length` bytes in the word or more.
constexpr uint64_t MaskOf(size_t length) {
  return length >= sizeof(uint64_t) ? ~uint64_t{0} : (uint64_t{1} << (length * 8)) - 1;
}

}  // namespace

// The key is made from words in the order of memory, with its length in the last byte.
static_assert(std::endian::native == std::endian::little);

const uint64_t PieceCache::kLowMasks[kPieceBytesMax + 1] = {
    MaskOf(0), MaskOf(1), MaskOf(2),  MaskOf(3),  MaskOf(4),  MaskOf(5),  MaskOf(6),  MaskOf(7),
    MaskOf(8), MaskOf(9), MaskOf(10), MaskOf(11), MaskOf(12), MaskOf(13), MaskOf(14), MaskOf(15)};
const uint64_t PieceCache::kHighMasks[kPieceBytesMax + 1] = {
    0, 0,         0,         0,         0,         0,         0,         0,
    0, MaskOf(1), MaskOf(2), MaskOf(3), MaskOf(4), MaskOf(5), MaskOf(6), MaskOf(7)};

void PieceCache::Insert(const Key& key, uint64_t hash, const uint32_t* ids, size_t count) {
  // Half of the slots are used at most, three quarters in a table that cannot grow.
  const size_t slots = mask_ + 1;
  const bool is_last = slots == size_t{1} << kLastSlotBits;
  if (used_ >= (is_last ? slots / 4 * 3 : slots / 2)) MakeSpace();
  Slot slot{key.low, key.high | (uint64_t{count} << kCountShift), {}};
  std::copy(ids, ids + count, slot.ids);
  Store(slot, hash);
}

void PieceCache::Allocate(int slot_bits) {
  slots_.assign(size_t{1} << slot_bits, Slot{});
  mask_ = (size_t{1} << slot_bits) - 1;
  shift_ = 64 - slot_bits;
  used_ = 0;
}

// Enlarges the table, or empties it if it has its largest size.
void PieceCache::MakeSpace() {
  const int slot_bits = 64 - shift_;
  if (slot_bits == kLastSlotBits) {
    Allocate(slot_bits);
    return;
  }
  const auto old = std::exchange(slots_, {});
  Allocate(slot_bits + 2);
  for (const Slot& slot : old) {
    if (slot.high == 0) continue;
    Store(slot, Key{slot.low, slot.high & (~uint64_t{0} >> 4)}.Hash());
  }
}

// Stores a slot in the first free place, or in the first place if no probe is free.
void PieceCache::Store(const Slot& slot, uint64_t hash) {
  size_t at = hash >> shift_;
  for (size_t probe = 0; probe < kProbesMax; ++probe, at = (at + 1) & mask_) {
    if (slots_[at].high != 0) continue;
    slots_[at] = slot;
    ++used_;
    return;
  }
  slots_[hash >> shift_] = slot;
}

LongPieceCache::Ids LongPieceCache::Find(std::string_view piece, uint64_t hash) const {
  const Slot& slot = slots_[SlotOf(piece, hash)];
  if (slot.length == 0) return {};
  return {contents_.data() + slot.begin, slot.count};
}

void LongPieceCache::Insert(std::string_view piece, uint64_t hash,
                            const std::vector<uint32_t>& ids) {
  if (piece.size() > kPieceBytesMax) return;
  const size_t text_words = (piece.size() + sizeof(uint32_t) - 1) / sizeof(uint32_t);
  if (used_ >= slots_.size() / 2 || contents_.size() + ids.size() + text_words > kContentsMax) {
    MakeSpace();
  }
  Slot& slot = slots_[SlotOf(piece, hash)];
  slot = {hash, static_cast<uint32_t>(contents_.size()), static_cast<uint16_t>(piece.size()),
          static_cast<uint16_t>(ids.size())};
  ++used_;
  contents_.insert(contents_.end(), ids.begin(), ids.end());
  contents_.resize(contents_.size() + text_words);
  std::memcpy(contents_.data() + slot.begin + ids.size(), piece.data(), piece.size());
}

// Returns the slot of the piece, or the free slot in which to store it.
size_t LongPieceCache::SlotOf(std::string_view piece, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t at = (hash >> 20) & mask;
  for (; slots_[at].length != 0; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash != hash || slot.length != piece.size()) continue;
    const uint32_t* text = contents_.data() + slot.begin + slot.count;
    if (std::memcmp(text, piece.data(), piece.size()) == 0) break;
  }
  return at;
}

// Enlarges the table, or empties it if the table or the contents have their largest size.
void LongPieceCache::MakeSpace() {
  if (slots_.size() == kLastSlots || used_ < slots_.size() / 2) {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    contents_.clear();
    used_ = 0;
    return;
  }
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  for (const Slot& slot : old) {
    if (slot.length == 0) continue;
    size_t at = (slot.hash >> 20) & (slots_.size() - 1);
    while (slots_[at].length != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

}  // namespace trainyard::data
