#include "data/bpe_training/pair_merger.h"

#include <algorithm>
#include <utility>

namespace trainyard::data {
namespace {

// Words and counts are in random places of memory. They are requested this many visits in advance.
constexpr size_t kPrefetchDistance = 8;

constexpr uint64_t kNoEntry = ~uint64_t{0};

}  // namespace

void PairMerger::SetLength(uint32_t symbol, uint64_t length) {
  if (symbol >= lengths_.size()) {
    lengths_.resize(symbol + 1);
    left_.changes.resize(symbol + 1);
    right_.changes.resize(symbol + 1);
  }
  lengths_[symbol] = length;
}

void PairMerger::ReplaceInWords(SymbolPair pair, uint32_t symbol,
                                std::span<const uint32_t> positions) {
  a_ = LeftOf(pair);
  b_ = RightOf(pair);
  n_ = symbol;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (i + kPrefetchDistance < positions.size()) {
      words_.Prefetch(positions[i + kPrefetchDistance]);
    }
    ReplaceInWord(positions[i]);
  }
}

void PairMerger::ReplaceInWord(uint32_t position) {
  uint32_t* const word = words_.At(position);
  const std::span<uint32_t> ids = WordList::IdsOf(word);
  // Copies, which the compiler keeps in registers although `ids` is written.
  const uint32_t a = a_, b = b_, n = n_;
  const size_t size = ids.size();
  size_t from = 0;
  const auto is_pair = [&] { return ids[from] == a && from + 1 < size && ids[from + 1] == b; };
  while (from < size && !is_pair()) ++from;
  // An earlier merge may have replaced the occurrences of the pair.
  if (from == size) return;
  const int64_t count = WordList::CountOf(word);
  size_t to = from;
  while (from < size) {
    if (!is_pair()) {
      ids[to++] = ids[from++];
      continue;
    }
    // The left neighbor is n after "abab", because the first "ab" is already replaced.
    if (to > 0) Record(&left_, ids[to - 1], count, position);
    if (from + 2 < size) Record(&right_, ids[from + 2], count, position);
    ids[to++] = n;
    from += 2;
  }
  WordList::Shorten(word, static_cast<uint32_t>(to));
}

inline void PairMerger::Record(Side* side, uint32_t symbol, int64_t count, uint32_t position) {
  Changes& changes = side->changes[symbol];
  if (changes.removed == 0) side->symbols.push_back(symbol);
  changes.removed += count;
  if (lengths_[symbol] + lengths_[n_] >= max_token_length_) return;
  changes.added += count;
  if (changes.last_word == position + 1) return;
  changes.last_word = position + 1;
  ++changes.words;
  side->additions.push_back({symbol, position});
}

SymbolPair PairMerger::RemovedPair(const Side* side, uint32_t symbol) const {
  return side == &left_ ? MakePair(symbol, a_) : MakePair(b_, symbol);
}

SymbolPair PairMerger::AddedPair(const Side* side, uint32_t symbol) const {
  return side == &left_ ? MakePair(symbol, n_) : MakePair(n_, symbol);
}

void PairMerger::UpdateCounts() {
  ApplyChanges(&left_);
  ApplyChanges(&right_);
  // Both sides may change a count: in "abab", the right side adds (n, a) and the left one removes
  // it. The counts are therefore read after both.
  QueueAdditions(&left_);
  QueueAdditions(&right_);
}

void PairMerger::ApplyChanges(Side* side) {
  const std::vector<uint32_t>& symbols = side->symbols;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (i + kPrefetchDistance < symbols.size()) {
      counts_.Prefetch(RemovedPair(side, symbols[i + kPrefetchDistance]));
      counts_.Prefetch(AddedPair(side, symbols[i + kPrefetchDistance]));
    }
    Changes& changes = side->changes[symbols[i]];
    counts_.Add(RemovedPair(side, symbols[i]), -changes.removed);
    if (changes.added == 0) continue;
    changes.added_slot = counts_.Add(AddedPair(side, symbols[i]), changes.added);
  }
}

void PairMerger::QueueAdditions(Side* side) {
  for (const uint32_t symbol : side->symbols) {
    Changes& changes = side->changes[symbol];
    const int64_t count = changes.added == 0 ? 0 : counts_.CountOf(changes.added_slot);
    // From here on, added_slot is the index of the entry.
    changes.added_slot = kNoEntry;
    if (count <= 0) continue;
    changes.added_slot = side->entries.size();
    side->entries.push_back({AddedPair(side, symbol), count, WordPositions(changes.words)});
  }
  for (const Addition& addition : side->additions) {
    const uint64_t entry = side->changes[addition.symbol].added_slot;
    if (entry != kNoEntry) side->entries[entry].words.Append(addition.position);
  }
  for (QueuedPair& entry : side->entries) queue_.Push(std::move(entry));
  for (const uint32_t symbol : side->symbols) side->changes[symbol] = Changes{};
  side->symbols.clear();
  side->additions.clear();
  side->entries.clear();
}

size_t PairMerger::bytes() const {
  size_t bytes = lengths_.capacity() * sizeof(lengths_[0]);
  for (const Side* side : {&left_, &right_}) {
    bytes += side->changes.capacity() * sizeof(Changes) +
             side->symbols.capacity() * sizeof(uint32_t) +
             side->additions.capacity() * sizeof(Addition) +
             side->entries.capacity() * sizeof(QueuedPair);
  }
  return bytes;
}

}  // namespace trainyard::data
