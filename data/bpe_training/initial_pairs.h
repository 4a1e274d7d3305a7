// The pairs of bytes in the words, before the first merge.
#ifndef TRAINYARD_DATA_BPE_TRAINING_INITIAL_PAIRS_H_
#define TRAINYARD_DATA_BPE_TRAINING_INITIAL_PAIRS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/bpe_training/merge_queue.h"
#include "data/bpe_training/pair_counts.h"
#include "data/bpe_training/word_list.h"

namespace trainyard::data {

class InitialPairs {
 public:
  // Counts the pairs in the words, whose ids are still bytes. Words may not be longer than
  // WordList::kElementsMax.
  explicit InitialPairs(WordList* words);

  // Memory that Queue adds to the queue, in bytes.
  size_t BytesToQueue() const;
  size_t size() const { return used_.size(); }

  // Replaces the bytes in the words by ids. Adds all pairs to `counts`, which must have space for
  // size() pairs, and to `queue`.
  void Queue(const std::array<uint32_t, 256>& ids, PairCounts* counts, MergeQueue* queue);

 private:
  struct Pair {
    int64_t count = 0;
    uint32_t words = 0;
    uint32_t last_word = 0;  // The position of the last word with this pair, plus 1.
  };

  static size_t IndexOf(uint32_t left, uint32_t right) { return left << 8 | right; }
  void FillPositions(const std::array<uint32_t, 256>& ids, std::vector<QueuedPair>* entries);

  WordList& words_;
  std::vector<Pair> pairs_;     // By IndexOf the two bytes.
  std::vector<uint32_t> used_;  // Indexes of pairs that occur, in ascending order.
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_INITIAL_PAIRS_H_
