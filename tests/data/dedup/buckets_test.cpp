#include "data/dedup/buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "tests/data/dedup/text_dedup.h"

namespace trainyard::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The documents of each bucket.
std::multiset<std::vector<uint64_t>> BucketsOf(const BucketMembers& members) {
  std::map<uint64_t, std::vector<uint64_t>> buckets;
  uint64_t next = 0;
  EXPECT_TRUE(members
                  .ForEachDocument([&](uint64_t document, const std::vector<uint64_t>& numbers) {
                    EXPECT_GE(document, next);
                    next = document + 1;
                    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
                    for (const uint64_t number : numbers) buckets[number].push_back(document);
                    return absl::OkStatus();
                  })
                  .ok());
  std::multiset<std::vector<uint64_t>> result;
  for (const auto& [number, documents] : buckets) result.insert(documents);
  EXPECT_EQ(result.size(), members.buckets());
  return result;
}

std::vector<std::vector<BandKey>> RandomKeys(size_t documents, uint64_t values) {
  std::mt19937_64 random(5);
  std::vector<std::vector<BandKey>> keys(documents);
  for (std::vector<BandKey>& of_document : keys) {
    for (uint64_t band = 0; band < 4; ++band) {
      const uint64_t value = random() % values;
      // The low bits of `high` and all of `low` distinguish the keys within a partition.
      of_document.push_back({(value % 256) << 56 | band, value});
    }
  }
  return keys;
}

std::multiset<std::vector<uint64_t>> ExpectedBuckets(
    const std::vector<std::vector<BandKey>>& keys) {
  std::map<BandKey, std::vector<uint64_t>> buckets;
  for (size_t document = 0; document < keys.size(); ++document) {
    for (const BandKey& key : keys[document]) buckets[key].push_back(document);
  }
  std::multiset<std::vector<uint64_t>> result;
  for (const auto& [key, documents] : buckets) {
    if (documents.size() > 1) result.insert(documents);
  }
  return result;
}

TEST(Buckets, ContainDocumentsWithEqualKeys) {
  const std::vector<std::vector<BandKey>> keys = RandomKeys(5000, 20000);
  const TemporaryDirectory directory;
  const absl::StatusOr<BucketMembers> members = SortKeys(directory, keys);
  ASSERT_TRUE(members.ok()) << members.status();
  const std::multiset<std::vector<uint64_t>> expected = ExpectedBuckets(keys);
  EXPECT_GT(expected.size(), 100u);
  EXPECT_EQ(BucketsOf(*members), expected);
}

TEST(Buckets, DoNotDependOnThreads) {
  const std::vector<std::vector<BandKey>> keys = RandomKeys(2000, 3000);
  std::vector<std::vector<std::vector<uint64_t>>> results;
  for (const int threads : {1, 2, 7}) {
    const TemporaryDirectory directory;
    const BucketMembers members = *SortKeys(directory, keys, {.threads = threads});
    results.emplace_back();
    ASSERT_TRUE(members
                    .ForEachDocument([&](uint64_t, const std::vector<uint64_t>& buckets) {
                      results.back().push_back(buckets);
                      return absl::OkStatus();
                    })
                    .ok());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Buckets, NumberDocumentsAcrossBlocks) {
  const TemporaryDirectory directory;
  BucketSorter sorter(directory.path(), {});
  ASSERT_TRUE(sorter.Add(DocumentId(2, 1), {{1, 1}}).ok());
  ASSERT_TRUE(sorter.Add(DocumentId(0, 0), {{1, 1}}).ok());
  ASSERT_TRUE(sorter.Add(DocumentId(0, 1), {{9, 9}}).ok());
  EXPECT_THAT(BucketsOf(*sorter.Finish(DocumentNumbers({2, 0, 3}))),
              ElementsAre(ElementsAre(0, 3)));
}

TEST(Buckets, FewKeysNeedNoScratchFiles) {
  const TemporaryDirectory directory;
  const std::vector<std::vector<BandKey>> keys = RandomKeys(1000, 300);
  const absl::StatusOr<BucketMembers> members = SortKeys(directory, keys);
  ASSERT_TRUE(members.ok()) << members.status();
  EXPECT_EQ(BucketsOf(*members), ExpectedBuckets(keys));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Buckets, NoDocumentsGiveNoBuckets) {
  const TemporaryDirectory directory;
  EXPECT_THAT(BucketsOf(*SortKeys(directory, {})), IsEmpty());
}

TEST(Buckets, RefuseMoreEqualKeysThanTheMemoryLimit) {
  const TemporaryDirectory directory;
  const std::vector<std::vector<BandKey>> keys(1000, {{1, 1}});
  const absl::Status status = SortKeys(directory, keys, {.memory_bytes = 50000}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("raise --memory-mib"));
}

TEST(Buckets, OnePartitionMayUseTheMemoryOfAllThreads) {
  const TemporaryDirectory directory;
  const std::vector<std::vector<BandKey>> keys(1000, {{1, 1}});
  const absl::StatusOr<BucketMembers> members =
      SortKeys(directory, keys, {.threads = 7, .memory_bytes = 100000});
  ASSERT_TRUE(members.ok()) << members.status();
  EXPECT_EQ(members->buckets(), 1u);
}

TEST(Buckets, RefuseCutScratchFiles) {
  const TemporaryDirectory directory;
  // The keys of document 0 fill more than one block of the file, so that a part of it is on disk.
  BucketSorter sorter(directory.path(), {});
  const std::vector<BandKey> keys(5000, {1, 1});
  ASSERT_TRUE(sorter.Add(0, keys).ok());
  std::filesystem::resize_file(directory.File("keys-0"), 100);
  const absl::Status status = sorter.Finish(DocumentNumbers({1})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("keys-0 is damaged"));
}

TEST(Buckets, RefuseCutMembers) {
  const TemporaryDirectory directory;
  // The buckets of each document fill more than one block of its file.
  std::vector<BandKey> keys;
  for (uint64_t i = 0; i < 5000; ++i) keys.push_back({1, i});
  const BucketMembers members = *SortKeys(directory, {keys, keys});
  std::filesystem::resize_file(directory.File("members-0"), 8);
  const absl::Status status = members.ForEachDocument(
      [](uint64_t, const std::vector<uint64_t>&) { return absl::OkStatus(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace trainyard::data
