#include "data/bpe/vocabulary.h"

#include <limits>
#include <utility>

#include "data/bpe/hash.h"

namespace trainyard::data {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr uint64_t kBytesMax = std::numeric_limits<uint32_t>::max();

}  // namespace

bool Vocabulary::Add(uint32_t id, std::string_view bytes) {
  if (id >= kTokensMax || bytes.empty() || bytes_.size() + bytes.size() > kBytesMax) return false;
  if (id >= places_.size()) places_.resize(id + 1);
  if (places_[id].length != 0) return false;
  if ((used_slots_ + 1) * size_t{2} > slots_.size()) Grow();
  places_[id] = {static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(bytes.size())};
  bytes_ += bytes;
  ++count_;
  const uint64_t hash = HashBytes(bytes);
  Slot& slot = slots_[SlotOf(bytes, hash)];
  if (slot.id != kNoToken) return true;
  slot = {id, static_cast<uint32_t>(hash)};
  ++used_slots_;
  return true;
}

uint32_t Vocabulary::Find(std::string_view bytes) const {
  return slots_.empty() ? kNoToken : slots_[SlotOf(bytes, HashBytes(bytes))].id;
}

size_t Vocabulary::SlotOf(std::string_view bytes, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash);
  size_t at = (hash >> 32) & mask;
  for (; slots_[at].id != kNoToken; at = (at + 1) & mask) {
    if (slots_[at].tag == tag && BytesOf(slots_[at].id) == bytes) break;
  }
  return at;
}

void Vocabulary::Grow() {
  const auto old = std::exchange(slots_, {});
  slots_.assign(old.empty() ? kFirstSlots : old.size() * 2, Slot{});
  for (const Slot& slot : old) {
    if (slot.id == kNoToken) continue;
    const std::string_view bytes = BytesOf(slot.id);
    slots_[SlotOf(bytes, HashBytes(bytes))] = slot;
  }
}

}  // namespace trainyard::data
