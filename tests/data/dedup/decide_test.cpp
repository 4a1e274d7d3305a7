#include "data/dedup/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "data/dedup/bucket_lists.h"
#include "tests/data/dedup/text_dedup.h"

namespace trainyard::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Knows the similarities of some pairs. Other pairs have none.
class ListedPairs : public PairTest {
 public:
  explicit ListedPairs(std::map<std::pair<uint64_t, uint64_t>, double> pairs)
      : pairs_(std::move(pairs)) {}

  absl::StatusOr<std::optional<double>> Compare(uint64_t a, uint64_t b) override {
    EXPECT_LT(a, b);
    ++comparisons;
    const auto found = pairs_.find({a, b});
    return found == pairs_.end() ? std::nullopt : std::optional(found->second);
  }
  absl::StatusOr<double> Estimate(uint64_t a, uint64_t b) override {
    const auto found = pairs_.find({a, b});
    return found == pairs_.end() ? 0.1 : found->second;
  }

  int64_t comparisons = 0;

 private:
  const std::map<std::pair<uint64_t, uint64_t>, double> pairs_;
};

class AllAlike : public PairTest {
 public:
  absl::StatusOr<std::optional<double>> Compare(uint64_t, uint64_t) override {
    ++comparisons;
    return 1.0;
  }
  absl::StatusOr<double> Estimate(uint64_t, uint64_t) override { return 1.0; }

  int64_t comparisons = 0;
};

// Keys of documents that are all in one bucket.
std::vector<std::vector<BandKey>> OneBucket(size_t documents) {
  return std::vector<std::vector<BandKey>>(documents, {{1, 1}});
}

class DecideTest : public ::testing::Test {
 protected:
  BucketMembers Members(const std::vector<std::vector<BandKey>>& keys) const {
    return *SortKeys(directory_, keys);
  }

  const TemporaryDirectory directory_;
};

// Each document is like its neighbors only.
std::map<std::pair<uint64_t, uint64_t>, double> Chain(uint64_t documents) {
  std::map<std::pair<uint64_t, uint64_t>, double> pairs;
  for (uint64_t i = 1; i < documents; ++i) pairs[{i - 1, i}] = 0.9;
  return pairs;
}

TEST_F(DecideTest, GreedyKeepsEverySecondDocumentOfAChain) {
  ListedPairs pairs(Chain(6));
  const Decisions decisions = *DecideGreedily(Members(OneBucket(6)), 0, &pairs);
  EXPECT_THAT(DroppedNumbers(decisions), ElementsAre(1, 3, 5));
  EXPECT_EQ(decisions.dropped[1].kept, 2u);
  EXPECT_EQ(decisions.clusters, 3u);
  EXPECT_FLOAT_EQ(decisions.largest[0].lowest_similarity, 0.9f);
}

TEST_F(DecideTest, ComponentsKeepOneDocumentOfAChain) {
  ListedPairs pairs(Chain(6));
  // Each pair of neighbors has a bucket.
  std::vector<std::vector<BandKey>> keys(6);
  for (uint64_t i = 0; i < 6; ++i) keys[i] = {{1, i}, {1, i + 1}};
  const Decisions decisions = *DecideByComponents(Members(keys), 0, &pairs);
  EXPECT_THAT(DroppedNumbers(decisions), ElementsAre(1, 2, 3, 4, 5));
  for (const DroppedDocument& dropped : decisions.dropped) EXPECT_EQ(dropped.kept, 0u);
  ASSERT_THAT(decisions.largest, SizeIs(1));
  EXPECT_EQ(decisions.largest[0].documents, 6u);
  EXPECT_FLOAT_EQ(decisions.largest[0].lowest_similarity, 0.1f);
}

TEST_F(DecideTest, DifferentDocumentsOfABucketAreKept) {
  ListedPairs pairs({});
  EXPECT_THAT(DecideGreedily(Members(OneBucket(3)), 0, &pairs)->dropped, IsEmpty());
  const TemporaryDirectory other;
  EXPECT_THAT(DecideByComponents(*SortKeys(other, OneBucket(3)), 0, &pairs)->dropped, IsEmpty());
}

TEST_F(DecideTest, LaterDocumentsOfABucketAreFound) {
  ListedPairs pairs({{{1, 2}, 0.8}});
  EXPECT_THAT(DroppedNumbers(*DecideGreedily(Members(OneBucket(3)), 0, &pairs)), ElementsAre(2));
}

TEST_F(DecideTest, ReferencesAreNeverDropped) {
  // 2 is like 1 only, which is like 0.
  ListedPairs pairs({{{0, 1}, 0.9}, {{1, 2}, 0.9}});
  const BucketMembers members = Members(OneBucket(4));
  const Decisions greedy = *DecideGreedily(members, 2, &pairs);
  EXPECT_THAT(DroppedNumbers(greedy), ElementsAre(2));
  EXPECT_EQ(greedy.dropped[0].kept, 1u);
  const Decisions components = *DecideByComponents(members, 2, &pairs);
  EXPECT_THAT(DroppedNumbers(components), ElementsAre(2));
  EXPECT_EQ(components.dropped[0].kept, 0u);
}

// Copies of one reference must not fill the list of documents that are compared.
TEST_F(DecideTest, CopiesOfReferencesAreNotCompared) {
  std::map<std::pair<uint64_t, uint64_t>, double> pairs;
  for (uint64_t copy = 1; copy < 100; ++copy) pairs[{0, copy}] = 1;
  pairs[{100, 101}] = 0.9;
  const BucketMembers members = Members(OneBucket(102));
  ListedPairs greedy(pairs);
  EXPECT_THAT(DroppedNumbers(*DecideGreedily(members, 101, &greedy)), ElementsAre(101));
  ListedPairs components(pairs);
  EXPECT_THAT(DroppedNumbers(*DecideByComponents(members, 101, &components)), ElementsAre(101));
}

TEST_F(DecideTest, ComparisonsPerBucketAreLimited) {
  ListedPairs pairs({});
  ASSERT_TRUE(DecideGreedily(Members(OneBucket(1000)), 0, &pairs).ok());
  EXPECT_LE(pairs.comparisons, static_cast<int64_t>(1000 * kComparedPerBucket));
}

TEST_F(DecideTest, ManyEqualDocumentsNeedOneComparisonEach) {
  std::vector<std::vector<BandKey>> keys(100000);
  for (std::vector<BandKey>& of_document : keys) {
    for (uint64_t band = 0; band < 16; ++band) of_document.push_back({band << 60, band});
  }
  const BucketMembers members = Members(keys);
  AllAlike greedy;
  EXPECT_THAT(DecideGreedily(members, 0, &greedy)->dropped, SizeIs(99999));
  EXPECT_EQ(greedy.comparisons, 99999);
  AllAlike components;
  EXPECT_THAT(DecideByComponents(members, 0, &components)->dropped, SizeIs(99999));
  EXPECT_EQ(components.comparisons, 99999);
}

TEST_F(DecideTest, TheLargestClustersAreReported) {
  AllAlike all;
  std::vector<std::vector<BandKey>> keys;
  // Seven clusters of 2 to 8 documents.
  for (uint64_t cluster = 0; cluster < 7; ++cluster) {
    for (uint64_t i = 0; i < cluster + 2; ++i) keys.push_back({{1, cluster}});
  }
  const Decisions decisions = *DecideGreedily(Members(keys), 0, &all);
  EXPECT_EQ(decisions.clusters, 7u);
  ASSERT_THAT(decisions.largest, SizeIs(Decisions::kLargestClusters));
  for (size_t i = 0; i < decisions.largest.size(); ++i) {
    EXPECT_EQ(decisions.largest[i].documents, 8 - i);
  }
}

}  // namespace
}  // namespace trainyard::data
