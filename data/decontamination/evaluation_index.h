// The n-grams of evaluation documents in memory.
#ifndef TRAINYARD_DATA_DECONTAMINATION_EVALUATION_INDEX_H_
#define TRAINYARD_DATA_DECONTAMINATION_EVALUATION_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace trainyard::data {

struct OverlapSettings {
  int ngram = 13;  // number of words
  // Evaluation documents with fewer words than `ngram` are compared as a whole if they have at
  // least this many words. Shorter ones are ignored, because any text may contain them.
  int min_words = 8;
  // A document is dropped if it contains this many different n-grams, and this fraction of the
  // different n-grams, of one evaluation document.
  int64_t min_hits = 1;
  double min_share = 0;
};

struct EvaluationDocument {
  std::string file;
  std::string place;   // "FILE:LINE"; "FILE" for plain text
  int64_t ngrams = 0;  // different ones
};

// Add the documents, then call Finish once. Threads may share a finished index.
class EvaluationIndex {
 public:
  // An n-gram counts only for the first evaluation documents that contain it, so that the text of a
  // template, which all documents of a set contain, costs little time.
  static constexpr size_t kDocumentsPerNgram = 100;

  // `bytes_max`: memory of the n-grams.
  EvaluationIndex(const OverlapSettings& settings, int64_t bytes_max)
      : settings_(settings), bytes_max_(bytes_max) {}

  // Returns ResourceExhausted if the n-grams of the documents so far exceed the memory.
  absl::Status Add(const std::string& file, const std::string& place, std::string_view text);
  void Finish();

  // Calls `take(key, document)` for each evaluation document that contains the n-gram. `key`
  // numbers the n-grams.
  template <typename Take>
  void ForEachDocument(uint64_t hash, const Take& take) const {
    for (size_t slot = hash & slot_mask_;; slot = (slot + 1) & slot_mask_) {
      const uint32_t begin = slots_[slot];
      if (begin == kEmpty) return;
      if (entries_[begin].hash != hash) continue;
      for (size_t i = begin; i < entries_.size() && entries_[i].hash == hash; ++i) {
        take(begin, entries_[i].document);
      }
      return;
    }
  }

  const OverlapSettings& settings() const { return settings_; }
  // Lengths of the n-grams, in words.
  const std::set<size_t>& lengths() const { return lengths_; }
  const std::vector<EvaluationDocument>& documents() const { return documents_; }
  int64_t ngrams() const { return ngrams_; }    // different ones of all documents
  int64_t ignored() const { return ignored_; }  // documents with fewer than `min_words` words

 private:
  struct Entry {
    uint64_t hash;
    uint32_t document;
  };
  static constexpr uint32_t kEmpty = 0xFFFFFFFF;

  // Sorts the entries, and removes repeated ones and those over kDocumentsPerNgram.
  void Compact();

  const OverlapSettings settings_;
  const int64_t bytes_max_;
  std::set<size_t> lengths_;
  std::vector<EvaluationDocument> documents_;
  std::vector<Entry> entries_;   // after Finish: by hash, then by document
  std::vector<uint32_t> slots_;  // hash table: index of the first entry of a hash
  uint64_t slot_mask_ = 0;
  int64_t ngrams_ = 0;
  int64_t ignored_ = 0;
  std::vector<uint64_t> words_;  // of the current document
  std::string word_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DECONTAMINATION_EVALUATION_INDEX_H_
