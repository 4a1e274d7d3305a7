// Merges sorted sequences of words.
#ifndef TRAINYARD_DATA_BPE_TRAINING_MERGE_WORDS_H_
#define TRAINYARD_DATA_BPE_TRAINING_MERGE_WORDS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "data/bpe_training/word_source.h"

namespace trainyard::data {

// Passes each distinct word of all sources once to `take`, in ascending order, with the sum of its
// counts. Returns the first error of a source or of `take`.
absl::Status MergeWords(const std::vector<std::unique_ptr<WordSource>>& sources,
                        const TakeWord& take);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_MERGE_WORDS_H_
