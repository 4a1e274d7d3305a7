#include "data/bpe_training/initial_pairs.h"

#include <span>
#include <utility>

namespace trainyard::data {
namespace {

constexpr size_t kPairs = size_t{256} * 256;

}  // namespace

InitialPairs::InitialPairs(WordList* words) : words_(*words), pairs_(kPairs) {
  words_.ForEach([this](uint32_t position, uint32_t* word) {
    const int64_t count = WordList::CountOf(word);
    const std::span<const uint32_t> bytes = WordList::IdsOf(word);
    for (size_t i = 0; i + 1 < bytes.size(); ++i) {
      Pair& pair = pairs_[IndexOf(bytes[i], bytes[i + 1])];
      pair.count += count;
      if (pair.last_word == position + 1) continue;
      pair.last_word = position + 1;
      ++pair.words;
    }
  });
  for (uint32_t i = 0; i < kPairs; ++i) {
    if (pairs_[i].words != 0) used_.push_back(i);
  }
}

size_t InitialPairs::BytesToQueue() const {
  size_t bytes = used_.size() * sizeof(QueuedPair);
  for (const uint32_t i : used_) bytes += WordPositions::BytesFor(pairs_[i].words);
  return bytes;
}

void InitialPairs::Queue(const std::array<uint32_t, 256>& ids, PairCounts* counts,
                         MergeQueue* queue) {
  std::vector<QueuedPair> entries(kPairs);
  for (const uint32_t i : used_) {
    entries[i].pair = MakePair(ids[i >> 8], ids[i & 0xFF]);
    entries[i].count = pairs_[i].count;
    entries[i].words = WordPositions(pairs_[i].words);
    counts->Add(entries[i].pair, entries[i].count);
  }
  FillPositions(ids, &entries);
  for (const uint32_t i : used_) queue->Push(std::move(entries[i]));
}

void InitialPairs::FillPositions(const std::array<uint32_t, 256>& ids,
                                 std::vector<QueuedPair>* entries) {
  for (const uint32_t i : used_) pairs_[i].last_word = 0;
  words_.ForEach([this, &ids, entries](uint32_t position, uint32_t* word) {
    const std::span<uint32_t> symbols = WordList::IdsOf(word);
    for (size_t i = 0; i < symbols.size(); ++i) {
      const uint32_t byte = symbols[i];
      symbols[i] = ids[byte];
      if (i + 1 == symbols.size()) break;
      const size_t pair = IndexOf(byte, symbols[i + 1]);
      if (pairs_[pair].last_word == position + 1) continue;
      pairs_[pair].last_word = position + 1;
      (*entries)[pair].words.Append(position);
    }
  });
}

}  // namespace trainyard::data
