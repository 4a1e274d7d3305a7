#include "data/bpe_training/merge_words.h"

#include <algorithm>
#include <string>

#include "proto/support/status_macros.h"

namespace trainyard::data {

absl::Status MergeWords(const std::vector<std::unique_ptr<WordSource>>& sources,
                        const TakeWord& take) {
  // A heap with the source of the least word on top.
  std::vector<WordSource*> heap;
  const auto is_later = [](const WordSource* a, const WordSource* b) {
    return a->word() > b->word();
  };
  for (const std::unique_ptr<WordSource>& source : sources) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool more, source->Next());
    if (more) heap.push_back(source.get());
  }
  std::make_heap(heap.begin(), heap.end(), is_later);
  std::string word;
  while (!heap.empty()) {
    word = heap.front()->word();
    uint64_t count = 0;
    while (!heap.empty() && heap.front()->word() == word) {
      std::pop_heap(heap.begin(), heap.end(), is_later);
      WordSource* const source = heap.back();
      count += source->count();
      TRAINYARD_ASSIGN_OR_RETURN(const bool more, source->Next());
      if (more) {
        std::push_heap(heap.begin(), heap.end(), is_later);
      } else {
        heap.pop_back();
      }
    }
    TRAINYARD_RETURN_IF_ERROR(take(word, count));
  }
  return absl::OkStatus();
}

}  // namespace trainyard::data
