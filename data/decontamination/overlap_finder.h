// Compares a text with the evaluation documents.
#ifndef TRAINYARD_DATA_DECONTAMINATION_OVERLAP_FINDER_H_
#define TRAINYARD_DATA_DECONTAMINATION_OVERLAP_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/decontamination/evaluation_index.h"
#include "data/decontamination/word_ngrams.h"

namespace trainyard::data {

struct Overlap {
  uint32_t document = 0;  // in EvaluationIndex::documents()
  int64_t hits = 0;       // different n-grams of that document in the text
  double share = 0;       // of its different n-grams
};

// Each thread needs its own.
class OverlapFinder {
 public:
  // `index` must be finished and outlive this object.
  explicit OverlapFinder(const EvaluationIndex& index);

  // Returns the overlap with the evaluation document that has the largest share, then the most
  // hits, of those that reach the thresholds; nullopt if there is none. The text must be UTF-8.
  std::optional<Overlap> Find(std::string_view text);

 private:
  const EvaluationIndex& index_;
  std::vector<NgramRoller> rollers_;
  std::string word_;
  std::vector<uint64_t> words_;
  std::vector<std::pair<uint32_t, uint32_t>> hits_;  // evaluation document, number of the n-gram
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DECONTAMINATION_OVERLAP_FINDER_H_
