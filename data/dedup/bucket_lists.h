// The documents with which later members of a bucket are compared.
#ifndef TRAINYARD_DATA_DEDUP_BUCKET_LISTS_H_
#define TRAINYARD_DATA_DEDUP_BUCKET_LISTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace trainyard::data {

// A document is compared with at most this number of kept documents per bucket, the first ones.
// Otherwise a bucket of n different documents would need n^2 comparisons.
inline constexpr size_t kComparedPerBucket = 16;

// Most buckets have one such document, so that only this one has a place of its own.
class BucketLists {
 public:
  explicit BucketLists(uint64_t buckets) : first_(buckets, kNone) {}

  // Ignores the document if the bucket has kComparedPerBucket documents.
  void Append(uint64_t bucket, uint64_t document) {
    if (first_[bucket] == kNone) {
      first_[bucket] = document;
      return;
    }
    std::vector<uint64_t>& more = more_[bucket];
    if (more.size() + 1 < kComparedPerBucket) more.push_back(document);
  }

  template <typename Take>
  void ForEach(uint64_t bucket, const Take& take) const {
    if (first_[bucket] == kNone) return;
    take(first_[bucket]);
    const auto more = more_.find(bucket);
    if (more == more_.end()) return;
    for (const uint64_t document : more->second) take(document);
  }

  // Replaces `documents` by those of all `buckets`, in ascending order.
  void DocumentsOf(const std::vector<uint64_t>& buckets, std::vector<uint64_t>* documents) const {
    documents->clear();
    for (const uint64_t bucket : buckets) {
      ForEach(bucket, [documents](uint64_t document) { documents->push_back(document); });
    }
    std::sort(documents->begin(), documents->end());
    documents->erase(std::unique(documents->begin(), documents->end()), documents->end());
  }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};

  std::vector<uint64_t> first_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> more_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_BUCKET_LISTS_H_
