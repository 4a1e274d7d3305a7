// Finds the documents that have band keys in common, out of core.
#ifndef TRAINYARD_DATA_DEDUP_BUCKETS_H_
#define TRAINYARD_DATA_DEDUP_BUCKETS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/dedup/document_numbers.h"
#include "data/dedup/document_signer.h"
#include "data/dedup/spill_file.h"

namespace trainyard::data {

struct BucketLimits {
  int threads = 1;
  size_t memory_bytes = size_t{1} << 30;
};

// The buckets with at least two documents, ordered by document.
class BucketMembers {
 public:
  // Called for each document that is in a bucket, in ascending order of numbers, with its buckets
  // in ascending order.
  using Take = std::function<absl::Status(uint64_t document, const std::vector<uint64_t>& buckets)>;
  absl::Status ForEachDocument(const Take& take) const;

  uint64_t buckets() const { return buckets_; }

 private:
  friend class BucketSorter;
  uint64_t buckets_ = 0;           // numbered from 0
  std::vector<SpillFile> ranges_;  // of documents, in ascending order
};

// Collects the band keys in files, one per range of keys. Not thread-safe.
class BucketSorter {
 public:
  // `directory` must exist; it receives the scratch files. There are none if each range of keys has
  // less than 64 KiB.
  BucketSorter(std::string directory, const BucketLimits& limits);

  // `id`: a DocumentId. Documents can be added in any order.
  absl::Status Add(uint64_t id, const std::vector<BandKey>& keys);

  // Sorts the keys. Call once. The members are the numbers of the documents. Returns
  // ResourceExhausted if the documents with equal keys need more than the memory limit.
  absl::StatusOr<BucketMembers> Finish(const DocumentNumbers& numbers);

 private:
  using TakeRuns = std::function<absl::Status(const std::vector<uint64_t>& runs)>;
  absl::Status GroupPartitions(const TakeRuns& take) const;

  const std::string directory_;
  const BucketLimits limits_;
  std::vector<SpillFile> partitions_;  // by the highest bits of the key
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_BUCKETS_H_
