// Trains a byte-level BPE. The vocabulary and the merges equal those of Hugging Face's tokenizers.
#ifndef TRAINYARD_DATA_BPE_TRAINING_BPE_TRAINER_H_
#define TRAINYARD_DATA_BPE_TRAINING_BPE_TRAINER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/bpe_training/merge_queue.h"
#include "data/bpe_training/pair_counts.h"
#include "data/bpe_training/pair_merger.h"
#include "data/bpe_training/trained_bpe.h"
#include "data/bpe_training/word_list.h"

namespace trainyard::data {

struct TrainingOptions {
  // Special tokens, bytes and merged tokens together.
  uint32_t vocabulary_size = 30'000;
  // Pairs with a lower count are not merged. 0 and 1 are equivalent.
  uint64_t min_frequency = 0;
  // New pairs are merged only if the token is shorter than this many bytes. Pairs of single bytes
  // are always merged.
  uint64_t max_token_length = std::numeric_limits<uint64_t>::max();
  // The first ids of the vocabulary, in this order. Distinct, not empty, valid UTF-8.
  std::vector<std::string> special_tokens;
  // Bytes that are in the vocabulary even if they do not occur in the text.
  std::string initial_bytes;
  // Limit on the memory of the trainer.
  uint64_t memory_bytes = uint64_t{4} << 30;
};

// Used once, by one thread: Add for each word, then Train.
class BpeTrainer {
 public:
  static absl::StatusOr<BpeTrainer> Create(TrainingOptions options);

  // Adds a word that occurs `count` (at least 1) times. The result does not depend on the order of
  // the words.
  absl::Status Add(std::string_view word, uint64_t count);

  absl::StatusOr<TrainedBpe> Train();

 private:
  explicit BpeTrainer(TrainingOptions options) : options_(std::move(options)) {}
  absl::Status AddFirstTokens();
  uint32_t FindOrAddToken(const std::string& token);
  absl::Status QueueInitialPairs();
  absl::Status MergeAll(PairMerger* merger);
  absl::Status ApplyMerge(const QueuedPair& entry, PairMerger* merger);
  absl::Status CheckMemory(uint64_t bytes) const;

  TrainingOptions options_;
  WordList words_;
  std::array<bool, 256> seen_{};     // By byte.
  std::array<uint32_t, 256> ids_{};  // By byte.
  uint64_t symbols_ = 0;             // Sum of length * count over all words.
  PairCounts counts_;
  MergeQueue queue_;
  TrainedBpe result_;
  std::unordered_map<std::string, uint32_t> id_by_token_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_BPE_TRAINER_H_
