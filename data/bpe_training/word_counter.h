// Counts the distinct words of a corpus in bounded memory, with several threads.
#ifndef TRAINYARD_DATA_BPE_TRAINING_WORD_COUNTER_H_
#define TRAINYARD_DATA_BPE_TRAINING_WORD_COUNTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/bpe_training/word_source.h"
#include "data/bpe_training/word_table.h"
#include "data/split/split_rule.h"

namespace trainyard::data {

// The part of a text that is split into words on its own. Hugging Face trains on the lines of files
// and on the documents of an iterator. The results differ: "\n\n" is a word of a document, but of
// no line.
enum class TrainingUnit {
  kLine,      // A line with its LF.
  kDocument,  // The whole text.
};

struct WordCounterOptions {
  SplitRule rule = SplitRule::kGpt2;
  TrainingUnit unit = TrainingUnit::kLine;
  size_t threads = 1;
  // Limit on the memory of all tables together; at least WordTable::kLeastBytes per thread.
  size_t memory_bytes = size_t{1} << 30;
  // Directory for the words that exceed the memory. Created files are removed by the destructor.
  // Empty: it is an error if the words exceed the memory.
  std::string scratch;
};

class WordCounter {
 public:
  static absl::StatusOr<std::unique_ptr<WordCounter>> Create(WordCounterOptions options);
  ~WordCounter();

  // Counts each word of `text`, which must be valid UTF-8, `weight` (at least 1) times. `thread` is
  // less than options.threads. Calls with different values of `thread` may run concurrently.
  absl::Status Add(size_t thread, std::string_view text, uint64_t weight = 1);

  // Counts `word`, which another counter has split, `count` (at least 1) times.
  absl::Status AddWord(size_t thread, std::string_view word, uint64_t count);

  // Passes each distinct word once to `take`, with its total count. The words and counts do not
  // depend on the threads, but the order does. Called once, after all calls of Add.
  absl::Status Finish(const TakeWord& take);

  // Length of the longest word in bytes. Training takes long if it exceeds some 100 kB.
  size_t longest_word() const;

 private:
  struct Shard;  // The table of a thread.

  explicit WordCounter(WordCounterOptions options);
  absl::Status CheckWeight(Shard* shard, size_t bytes, uint64_t weight) const;
  absl::Status AddUnit(Shard* shard, std::string_view text, uint64_t weight);
  absl::Status MakeSpace(Shard* shard, size_t words, size_t bytes);
  absl::Status Spill(Shard* shard);
  absl::Status FinishInMemory(const TakeWord& take);
  absl::Status FinishFromRuns(const TakeWord& take);
  absl::Status MergeFirstRuns(std::vector<std::string>* runs, size_t next_number);

  const WordCounterOptions options_;
  std::string directory_;  // Contains the run files. Empty: there is none.
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_WORD_COUNTER_H_
