#include "data/bpe/vocabulary.h"

#include <limits>

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
  uint32_t& slot = slots_[SlotOf(bytes)];
  if (slot != kNoToken) return true;
  slot = id;
  ++used_slots_;
  return true;
}

uint32_t Vocabulary::Find(std::string_view bytes) const {
  return slots_.empty() ? kNoToken : slots_[SlotOf(bytes)];
}

size_t Vocabulary::SlotOf(std::string_view bytes) const {
  const size_t mask = slots_.size() - 1;
  size_t at = (HashBytes(bytes) >> 20) & mask;
  while (slots_[at] != kNoToken && BytesOf(slots_[at]) != bytes) at = (at + 1) & mask;
  return at;
}

void Vocabulary::Grow() {
  std::vector<uint32_t> old = std::move(slots_);
  slots_.assign(old.empty() ? kFirstSlots : old.size() * 2, kNoToken);
  for (const uint32_t id : old) {
    if (id != kNoToken) slots_[SlotOf(BytesOf(id))] = id;
  }
}

}  // namespace trainyard::data
