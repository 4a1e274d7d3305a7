#include "data/bpe_training/pair_counts.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace trainyard::data {
namespace {

constexpr size_t kLeastSlots = 1024;

}  // namespace

size_t PairCounts::SlotsFor(size_t pairs) const {
  return std::max(kLeastSlots, std::bit_ceil((used_ + pairs) * 3 / 2 + 1));
}

size_t PairCounts::PeakBytesFor(size_t pairs) const {
  const size_t slots = SlotsFor(pairs);
  return slots <= slots_.size() ? bytes() : bytes() + slots * sizeof(Slot);
}

bool PairCounts::MakeSpace(size_t pairs) {
  const size_t slots = SlotsFor(pairs);
  if (slots <= slots_.size()) return true;
  MappedArray<Slot> old;
  if (!old.Resize(slots)) return false;
  std::swap(old, slots_);
  shift_ = 64 - std::countr_zero(slots);
  for (size_t i = 0; i < old.size(); ++i) {
    if (old[i].pair_plus_one != 0) *Find(old[i].pair_plus_one - 1) = old[i];
  }
  return true;
}

}  // namespace trainyard::data
