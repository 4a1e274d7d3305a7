#include "data/dedup/buckets.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/dedup/key_groups.h"
#include "data/input/block_pipeline.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

constexpr int kPartitionBits = 8;
constexpr size_t kPartitions = size_t{1} << kPartitionBits;
constexpr size_t kRanges = 64;

struct Membership {
  uint64_t document = 0;
  uint64_t bucket = 0;

  friend auto operator<=>(const Membership&, const Membership&) = default;
};

template <typename Record>
std::string_view RecordBytes(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

}  // namespace

absl::Status BucketMembers::ForEachDocument(const Take& take) const {
  std::vector<Membership> members;
  std::vector<uint64_t> buckets;
  for (const SpillFile& range : ranges_) {
    members.resize(range.records());
    char* end = reinterpret_cast<char*>(members.data());
    TRAINYARD_RETURN_IF_ERROR(range.Read([&end](std::string_view records) {
      std::memcpy(end, records.data(), records.size());
      end += records.size();
    }));
    std::sort(members.begin(), members.end());
    for (size_t first = 0, i = 0; first < members.size(); first = i) {
      buckets.clear();
      while (i < members.size() && members[i].document == members[first].document) {
        buckets.push_back(members[i++].bucket);
      }
      TRAINYARD_RETURN_IF_ERROR(take(members[first].document, buckets));
    }
  }
  return absl::OkStatus();
}

BucketSorter::BucketSorter(std::string directory, const BucketLimits& limits)
    : directory_(std::move(directory)), limits_(limits) {
  for (size_t i = 0; i < kPartitions; ++i) {
    partitions_.emplace_back(absl::StrCat(directory_, "/keys-", i), sizeof(KeyRecord));
  }
}

absl::Status BucketSorter::Add(uint64_t id, const std::vector<BandKey>& keys) {
  for (const BandKey& key : keys) {
    const KeyRecord record{key, id};
    TRAINYARD_RETURN_IF_ERROR(
        partitions_[key.high >> (64 - kPartitionBits)].Append(RecordBytes(record)));
  }
  return absl::OkStatus();
}

// Calls `take` with the groups of each partition, in order.
absl::Status BucketSorter::GroupPartitions(const TakeRuns& take) const {
  struct Groups {
    size_t partition = 0;
    absl::StatusOr<std::vector<uint64_t>> runs;
  };
  // The pipeline keeps the results of four partitions per thread.
  const size_t share = limits_.memory_bytes / static_cast<size_t>(limits_.threads * 5);
  size_t next = 0;
  BlockPipeline<size_t, Groups> pipeline(limits_.threads);
  return pipeline.Run(
      [&next](size_t* partition) -> absl::StatusOr<bool> {
        *partition = next++;
        return *partition < kPartitions;
      },
      [&](int, size_t partition) -> absl::StatusOr<Groups> {
        return Groups{partition, GroupKeys(partitions_[partition], share)};
      },
      [&](Groups groups) -> absl::Status {
        // A partition with very many equal keys may use more memory, on this thread only.
        if (absl::IsResourceExhausted(groups.runs.status())) {
          groups.runs = GroupKeys(partitions_[groups.partition], limits_.memory_bytes);
        }
        TRAINYARD_RETURN_IF_ERROR(groups.runs.status());
        return take(*groups.runs);
      });
}

absl::StatusOr<BucketMembers> BucketSorter::Finish(const DocumentNumbers& numbers) {
  for (SpillFile& partition : partitions_) TRAINYARD_RETURN_IF_ERROR(partition.Finish());
  BucketMembers members;
  for (size_t i = 0; i < kRanges; ++i) {
    members.ranges_.emplace_back(absl::StrCat(directory_, "/members-", i), sizeof(Membership));
  }
  const uint64_t range_documents = numbers.documents() / kRanges + 1;
  // `runs`: for each bucket the number of its documents, then their ids.
  const auto add_members = [&](const std::vector<uint64_t>& runs) -> absl::Status {
    for (size_t i = 0; i < runs.size(); ++members.buckets_) {
      const size_t end = i + 1 + runs[i];
      for (++i; i < end; ++i) {
        const Membership membership{numbers.NumberOf(runs[i]), members.buckets_};
        SpillFile& range = members.ranges_[membership.document / range_documents];
        TRAINYARD_RETURN_IF_ERROR(range.Append(RecordBytes(membership)));
      }
    }
    return absl::OkStatus();
  };
  TRAINYARD_RETURN_IF_ERROR(GroupPartitions(add_members));
  for (SpillFile& partition : partitions_) partition.Remove();
  for (SpillFile& range : members.ranges_) TRAINYARD_RETURN_IF_ERROR(range.Finish());
  return members;
}

}  // namespace trainyard::data
