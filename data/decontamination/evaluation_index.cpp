#include "data/decontamination/evaluation_index.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "data/decontamination/word_ngrams.h"
#include "data/dedup/text_elements.h"

namespace trainyard::data {
namespace {

// The hash table has 1 to 2 slots of 4 bytes per n-gram, and the vector of entries may have twice
// the capacity that it needs.
constexpr int64_t kBytesPerEntry = 2 * 16 + 2 * 4;
// Fewer entries are not worth an early check of the memory.
constexpr size_t kEntriesAlways = 1000;

}  // namespace

absl::Status EvaluationIndex::Add(const std::string& file, const std::string& place,
                                  std::string_view text) {
  HashWords(text, &word_, &words_);
  if (words_.size() < static_cast<size_t>(settings_.min_words)) {
    ++ignored_;
    return absl::OkStatus();
  }
  const auto document = static_cast<uint32_t>(documents_.size());
  documents_.push_back({file, place, 0});
  const size_t length = std::min(words_.size(), static_cast<size_t>(settings_.ngram));
  lengths_.insert(length);
  NgramRoller(length).ForEach(words_, [&](uint64_t hash) { entries_.push_back({hash, document}); });
  const auto entries_max = static_cast<size_t>(bytes_max_ / kBytesPerEntry);
  if (entries_.size() <= std::max(entries_max, kEntriesAlways)) return absl::OkStatus();
  Compact();
  // Without a margin, each further document would need this step again.
  if (entries_.size() <= entries_max / 2) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      "the evaluation sets have more than " + std::to_string(entries_.size()) +
      " n-grams, which need more than half of the memory limit; raise --memory-mib or "
      "name fewer files with --against");
}

void EvaluationIndex::Compact() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.hash, a.document) < std::tie(b.hash, b.document);
  });
  size_t kept = 0;
  size_t of_hash = 0;  // kept entries with the hash of the last one
  for (const Entry& entry : entries_) {
    const bool same_hash = kept > 0 && entries_[kept - 1].hash == entry.hash;
    if (same_hash && entries_[kept - 1].document == entry.document) continue;
    of_hash = same_hash ? of_hash + 1 : 1;
    if (of_hash <= kDocumentsPerNgram) entries_[kept++] = entry;
  }
  entries_.resize(kept);
}

void EvaluationIndex::Finish() {
  Compact();
  slots_.assign(std::bit_ceil(entries_.size() * 2 + 1), kEmpty);
  slot_mask_ = slots_.size() - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    ++documents_[entries_[i].document].ngrams;
    if (i > 0 && entries_[i].hash == entries_[i - 1].hash) continue;
    ++ngrams_;
    size_t slot = entries_[i].hash & slot_mask_;
    while (slots_[slot] != kEmpty) slot = (slot + 1) & slot_mask_;
    slots_[slot] = static_cast<uint32_t>(i);
  }
}

}  // namespace trainyard::data
