#include "data/dedup/decide.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/dedup/bucket_lists.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

bool IsLarger(const Cluster& a, const Cluster& b) {
  return std::pair(b.documents, a.kept) < std::pair(a.documents, b.kept);
}

void SummarizeClusters(Decisions* decisions) {
  std::vector<DroppedDocument> sorted = decisions->dropped;
  std::sort(sorted.begin(), sorted.end(),
            [](const DroppedDocument& a, const DroppedDocument& b) { return a.kept < b.kept; });
  for (size_t i = 0; i < sorted.size();) {
    Cluster cluster{sorted[i].kept};
    for (; i < sorted.size() && sorted[i].kept == cluster.kept; ++i) {
      ++cluster.documents;
      cluster.lowest_similarity = std::min(cluster.lowest_similarity, sorted[i].similarity);
    }
    ++decisions->clusters;
    std::vector<Cluster>& largest = decisions->largest;
    largest.insert(std::upper_bound(largest.begin(), largest.end(), cluster, IsLarger), cluster);
    if (largest.size() > Decisions::kLargestClusters) largest.pop_back();
  }
}

// Sets of connected documents. The first document of a set is its root.
class UnionFind {
 public:
  // Documents must be added in ascending order.
  void Add(uint64_t document) {
    documents_.push_back(document);
    parents_.push_back(parents_.size());
  }

  uint64_t RootOf(uint64_t document) { return documents_[Root(IndexOf(document))]; }

  void Connect(uint64_t a, uint64_t b) {
    const size_t root_a = Root(IndexOf(a));
    const size_t root_b = Root(IndexOf(b));
    parents_[std::max(root_a, root_b)] = std::min(root_a, root_b);
  }

  const std::vector<uint64_t>& documents() const { return documents_; }

 private:
  size_t IndexOf(uint64_t document) const {
    const auto found = std::lower_bound(documents_.begin(), documents_.end(), document);
    return static_cast<size_t>(found - documents_.begin());
  }

  size_t Root(size_t index) {
    while (parents_[index] != index) {
      parents_[index] = parents_[parents_[index]];
      index = parents_[index];
    }
    return index;
  }

  std::vector<uint64_t> documents_;
  std::vector<size_t> parents_;
};

// Connects `document` with the like ones among the earlier documents of its buckets. Later
// documents will be compared with it in buckets without a like one, and in all buckets of a
// reference that is not a copy.
absl::Status ConnectDocument(uint64_t document, const std::vector<uint64_t>& buckets,
                             bool is_reference, PairTest* test, BucketLists* lists,
                             UnionFind* sets) {
  std::vector<uint64_t> candidates;
  lists->DocumentsOf(buckets, &candidates);
  bool is_copy = false;
  for (const uint64_t candidate : candidates) {
    if (sets->RootOf(candidate) == sets->RootOf(document)) continue;
    TRAINYARD_ASSIGN_OR_RETURN(const std::optional<double> similarity,
                               test->Compare(candidate, document));
    if (similarity) sets->Connect(candidate, document);
    is_copy |= similarity >= 1.0;
  }
  for (const uint64_t bucket : buckets) {
    bool is_connected = false;
    lists->ForEach(bucket, [&](uint64_t candidate) {
      is_connected |= sets->RootOf(candidate) == sets->RootOf(document);
    });
    if (!is_connected || (is_reference && !is_copy)) lists->Append(bucket, document);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Decisions> DecideGreedily(const BucketMembers& members, uint64_t first_new,
                                         PairTest* test) {
  Decisions decisions;
  BucketLists lists(members.buckets());
  std::vector<uint64_t> candidates;
  const auto decide = [&](uint64_t document, const std::vector<uint64_t>& buckets) -> absl::Status {
    lists.DocumentsOf(buckets, &candidates);
    const bool is_reference = document < first_new;
    for (const uint64_t kept : candidates) {
      TRAINYARD_ASSIGN_OR_RETURN(const std::optional<double> similarity,
                                 test->Compare(kept, document));
      if (!similarity) continue;
      // A copy of a reference would only fill the list. Other references are compared with later
      // documents.
      if (is_reference && *similarity < 1) continue;
      if (!is_reference) {
        decisions.dropped.push_back({document, kept, static_cast<float>(*similarity)});
      }
      return absl::OkStatus();
    }
    for (const uint64_t bucket : buckets) lists.Append(bucket, document);
    return absl::OkStatus();
  };
  TRAINYARD_RETURN_IF_ERROR(members.ForEachDocument(decide));
  SummarizeClusters(&decisions);
  return decisions;
}

absl::StatusOr<Decisions> DecideByComponents(const BucketMembers& members, uint64_t first_new,
                                             PairTest* test) {
  UnionFind sets;
  BucketLists lists(members.buckets());
  TRAINYARD_RETURN_IF_ERROR(
      members.ForEachDocument([&](uint64_t document, const std::vector<uint64_t>& buckets) {
        sets.Add(document);
        return ConnectDocument(document, buckets, document < first_new, test, &lists, &sets);
      }));
  Decisions decisions;
  for (const uint64_t document : sets.documents()) {
    const uint64_t kept = sets.RootOf(document);
    if (kept == document || document < first_new) continue;
    TRAINYARD_ASSIGN_OR_RETURN(const double similarity, test->Estimate(kept, document));
    decisions.dropped.push_back({document, kept, static_cast<float>(similarity)});
  }
  SummarizeClusters(&decisions);
  return decisions;
}

}  // namespace trainyard::data
