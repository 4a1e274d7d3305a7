// Applies a merge to the words, and updates the counts of the pairs beside it.
#ifndef TRAINYARD_DATA_BPE_TRAINING_PAIR_MERGER_H_
#define TRAINYARD_DATA_BPE_TRAINING_PAIR_MERGER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/bpe_training/merge_queue.h"
#include "data/bpe_training/pair_counts.h"
#include "data/bpe_training/word_list.h"

namespace trainyard::data {

// A merge of (a, b) into n changes the counts of the pairs (x, a), (x, n), (b, x) and (n, x) for
// each symbol x beside an occurrence of (a, b). The changes are first summed in arrays indexed by
// x. The table of counts is therefore updated once per x instead of once per occurrence.
class PairMerger {
 public:
  // Occurrences of a pair are counted only if its token is shorter than `max_token_length` bytes.
  // The three objects must outlive the merger.
  PairMerger(uint64_t max_token_length, WordList* words, PairCounts* counts, MergeQueue* queue)
      : max_token_length_(max_token_length), words_(*words), counts_(*counts), queue_(*queue) {}

  // Sets the length of a symbol's token in bytes. All symbols of the words must have one.
  void SetLength(uint32_t symbol, uint64_t length);
  uint64_t LengthOf(uint32_t symbol) const { return lengths_[symbol]; }

  // Replaces `pair` by `symbol` in the words at `positions`, from left to right in each word.
  void ReplaceInWords(SymbolPair pair, uint32_t symbol, std::span<const uint32_t> positions);

  // The number of pairs that UpdateCounts adds to the table of counts, at most.
  size_t PairsToUpdate() const { return 2 * (left_.symbols.size() + right_.symbols.size()); }

  // Applies the changes of ReplaceInWords to the counts. Then queues the pairs with new
  // occurrences, if their counts are positive. The table must have space for PairsToUpdate()
  // pairs.
  void UpdateCounts();

  size_t bytes() const;

 private:
  // Changes of the pairs of one symbol x.
  struct Changes {
    int64_t removed = 0;      // Occurrences of (x, a) or (b, x).
    int64_t added = 0;        // Occurrences of (x, n) or (n, x).
    uint32_t words = 0;       // Words with added occurrences.
    uint32_t last_word = 0;   // Position of the last of these words, plus 1. 0: there is none.
    uint64_t added_slot = 0;  // The slot of (x, n) or (n, x) in the table of counts.
  };
  // A word in which an occurrence was added.
  struct Addition {
    uint32_t symbol;
    uint32_t position;
  };
  // The symbols to the left of the occurrences of (a, b), or those to the right.
  struct Side {
    std::vector<Changes> changes;     // By symbol.
    std::vector<uint32_t> symbols;    // Symbols with changes.
    std::vector<Addition> additions;  // In the order of the words.
    std::vector<QueuedPair> entries;  // Pairs to queue. Empty between two merges.
  };

  void ReplaceInWord(uint32_t position);
  void Record(Side* side, uint32_t symbol, int64_t count, uint32_t position);
  void ApplyChanges(Side* side);
  void QueueAdditions(Side* side);
  SymbolPair RemovedPair(const Side* side, uint32_t symbol) const;
  SymbolPair AddedPair(const Side* side, uint32_t symbol) const;

  const uint64_t max_token_length_;
  WordList& words_;
  PairCounts& counts_;
  MergeQueue& queue_;
  std::vector<uint64_t> lengths_;  // By symbol.
  Side left_;
  Side right_;
  // The current merge.
  uint32_t a_ = 0;
  uint32_t b_ = 0;
  uint32_t n_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_PAIR_MERGER_H_
