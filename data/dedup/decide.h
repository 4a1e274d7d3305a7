// Decides which documents are dropped.
#ifndef TRAINYARD_DATA_DEDUP_DECIDE_H_
#define TRAINYARD_DATA_DEDUP_DECIDE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dedup/buckets.h"

namespace trainyard::data {

// Compares documents.
class PairTest {
 public:
  virtual ~PairTest() = default;

  // Returns the similarity of two candidates; nullopt if they are too different to be duplicates.
  virtual absl::StatusOr<std::optional<double>> Compare(uint64_t a, uint64_t b) = 0;
  // Returns an estimate of the similarity of any two documents.
  virtual absl::StatusOr<double> Estimate(uint64_t a, uint64_t b) = 0;
};

struct DroppedDocument {
  uint64_t document = 0;
  uint64_t kept = 0;  // smaller than `document`
  float similarity = 0;
};

// A kept document and those dropped for it.
struct Cluster {
  uint64_t kept = 0;
  uint64_t documents = 1;  // including the kept one
  float lowest_similarity = 1;
};

struct Decisions {
  std::vector<DroppedDocument> dropped;  // in ascending order
  uint64_t clusters = 0;
  std::vector<Cluster> largest;  // at most kLargestClusters, the largest first

  static constexpr size_t kLargestClusters = 5;
};

// Drops each document that is like a kept earlier one. Documents below `first_new` are references:
// never dropped, but others are dropped for them. The result depends only on the members and the
// comparisons.
absl::StatusOr<Decisions> DecideGreedily(const BucketMembers& members, uint64_t first_new,
                                         PairTest* test);

// Connects like documents, and keeps only the first document of each connected component and the
// references. The similarity to the kept document can be lower than that of any compared pair.
absl::StatusOr<Decisions> DecideByComponents(const BucketMembers& members, uint64_t first_new,
                                             PairTest* test);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_DECIDE_H_
