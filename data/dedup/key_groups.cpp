#include "data/dedup/key_groups.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Bits per record. More bits let fewer unique keys through.
constexpr uint64_t kFilterBits = 8;

// Remembers which slots were hit once and which more often. Keys share a slot by chance, so a key
// in a repeated slot need not be repeated itself.
class RepeatFilter {
 public:
  explicit RepeatFilter(uint64_t records)
      : mask_(std::bit_ceil(std::max<uint64_t>(records * kFilterBits, 64)) - 1),
        once_((mask_ + 1) / 64),
        repeated_((mask_ + 1) / 64) {}

  void Add(const BandKey& key) {
    const uint64_t slot = key.low & mask_;
    const uint64_t bit = uint64_t{1} << (slot % 64);
    repeated_[slot / 64] |= once_[slot / 64] & bit;
    once_[slot / 64] |= bit;
  }

  bool MayRepeat(const BandKey& key) const {
    const uint64_t slot = key.low & mask_;
    return (repeated_[slot / 64] >> (slot % 64) & 1) != 0;
  }

 private:
  const uint64_t mask_;
  std::vector<uint64_t> once_;
  std::vector<uint64_t> repeated_;
};

template <typename Take>
absl::Status ForEachRecord(const SpillFile& file, const Take& take) {
  return file.Read([&take](std::string_view records) {
    KeyRecord record;
    for (size_t at = 0; at < records.size(); at += sizeof(record)) {
      std::memcpy(&record, &records[at], sizeof(record));
      take(record);
    }
  });
}

std::vector<uint64_t> RunsOf(const std::vector<KeyRecord>& sorted) {
  std::vector<uint64_t> runs;
  for (size_t first = 0, end = 0; first < sorted.size(); first = end) {
    while (end < sorted.size() && sorted[end].key == sorted[first].key) ++end;
    if (end - first < 2) continue;
    runs.push_back(end - first);
    for (size_t i = first; i < end; ++i) runs.push_back(sorted[i].document);
  }
  return runs;
}

}  // namespace

absl::StatusOr<std::vector<uint64_t>> GroupKeys(const SpillFile& file, size_t memory_bytes) {
  RepeatFilter filter(file.records());
  TRAINYARD_RETURN_IF_ERROR(
      ForEachRecord(file, [&filter](const KeyRecord& record) { filter.Add(record.key); }));
  std::vector<KeyRecord> repeated;
  // The runs of the result need a third of the memory of the records. A growing vector needs twice
  // the memory of its elements.
  const size_t records_max = memory_bytes / (3 * sizeof(KeyRecord));
  bool too_many = false;
  TRAINYARD_RETURN_IF_ERROR(ForEachRecord(file, [&](const KeyRecord& record) {
    if (!filter.MayRepeat(record.key)) return;
    if (repeated.size() < records_max) {
      repeated.push_back(record);
    } else {
      too_many = true;
    }
  }));
  if (too_many) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "more than ", records_max, " equal keys in a scratch file; raise --memory-mib"));
  }
  std::sort(repeated.begin(), repeated.end());
  return RunsOf(repeated);
}

}  // namespace trainyard::data
