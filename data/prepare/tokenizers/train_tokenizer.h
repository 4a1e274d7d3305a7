// `trainyard data train-tokenizer`: trains a byte-level BPE on text.
#ifndef TRAINYARD_DATA_PREPARE_TOKENIZERS_TRAIN_TOKENIZER_H_
#define TRAINYARD_DATA_PREPARE_TOKENIZERS_TRAIN_TOKENIZER_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"

namespace trainyard::data {

struct TrainedSummary {
  std::string path;
  int64_t tokens = 0;  // of the vocabulary
  int64_t merges = 0;
  int64_t words = 0;  // distinct ones in the text
  int64_t longest_word = 0;
  bool has_end_token = false;  // a special token is known to end documents
  std::string bad_lines;       // BadLineLog::Summary; empty if there are none
  double seconds = 0;
};

// Writes the file `out`, which is usable as a tokenizer of `data prepare`. All bytes are in the
// vocabulary, so that every text can be encoded. The file depends neither on the number of threads
// nor on the memory limit. On failure, nothing is written.
//
// Errors: those of PrepareData; AlreadyExists if `out` exists, ResourceExhausted if the memory
// limit is too low.
absl::StatusOr<TrainedSummary> TrainTokenizer(const TrainTokenizerOptions& options,
                                              Progress* progress,
                                              const std::atomic<bool>& cancelled);

// Returns a summary for the user, including the command to run next. It ends with a newline.
std::string TrainedText(const TrainedSummary& summary);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_TOKENIZERS_TRAIN_TOKENIZER_H_
