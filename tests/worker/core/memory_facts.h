// Stores facts in memory instead of on disk.
#ifndef TRAINYARD_TESTS_WORKER_CORE_MEMORY_FACTS_H_
#define TRAINYARD_TESTS_WORKER_CORE_MEMORY_FACTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "worker/core/fact_queue.h"

namespace trainyard::worker {

class MemoryFacts final : public FactQueue {
 public:
  using FactQueue::Restore;

  // Number of times that all records were replaced.
  int rewrites = 0;
  // Simulated size of the records.
  int64_t disk_bytes = 0;
  // Records that were written successfully, in order.
  std::vector<v1::Fact> records;
  // Result of every write.
  absl::Status write;

 private:
  absl::Status AppendRecord(const v1::Fact& record) override {
    if (write.ok()) records.push_back(record);
    return write;
  }
  absl::Status ReplaceRecords(const std::vector<v1::Fact>& replacement) override {
    if (!write.ok()) return write;
    ++rewrites;
    records = replacement;
    return write;
  }
  int64_t DiskBytes() const override { return disk_bytes; }
};

// Larger than any size at which facts are compacted.
inline constexpr int64_t kLargeDiskBytes = 1 << 20;

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_CORE_MEMORY_FACTS_H_
