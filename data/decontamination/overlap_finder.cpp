#include "data/decontamination/overlap_finder.h"

#include <algorithm>
#include <tuple>

#include "data/dedup/text_elements.h"

namespace trainyard::data {
namespace {

// A longer list of words is freed after its text.
constexpr size_t kWordsKept = size_t{1} << 20;

}  // namespace

OverlapFinder::OverlapFinder(const EvaluationIndex& index) : index_(index) {
  for (const size_t length : index.lengths()) rollers_.emplace_back(length);
}

std::optional<Overlap> OverlapFinder::Find(std::string_view text) {
  HashWords(text, &word_, &words_);
  hits_.clear();
  for (const NgramRoller& roller : rollers_) {
    roller.ForEach(words_, [this](uint64_t hash) {
      index_.ForEachDocument(
          hash, [this](uint32_t key, uint32_t document) { hits_.emplace_back(document, key); });
    });
  }
  if (words_.capacity() > kWordsKept) words_ = std::vector<uint64_t>();
  std::sort(hits_.begin(), hits_.end());
  hits_.erase(std::unique(hits_.begin(), hits_.end()), hits_.end());
  std::optional<Overlap> best;
  for (size_t begin = 0; begin < hits_.size();) {
    size_t end = begin;
    while (end < hits_.size() && hits_[end].first == hits_[begin].first) ++end;
    Overlap overlap = {hits_[begin].first, static_cast<int64_t>(end - begin), 0};
    overlap.share = static_cast<double>(overlap.hits) /
                    static_cast<double>(index_.documents()[overlap.document].ngrams);
    begin = end;
    const OverlapSettings& settings = index_.settings();
    if (overlap.hits < settings.min_hits || overlap.share < settings.min_share) continue;
    if (!best || std::tie(overlap.share, overlap.hits) > std::tie(best->share, best->hits)) {
      best = overlap;
    }
  }
  return best;
}

}  // namespace trainyard::data
