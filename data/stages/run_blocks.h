// Processes blocks on several threads.
#ifndef TRAINYARD_DATA_STAGES_RUN_BLOCKS_H_
#define TRAINYARD_DATA_STAGES_RUN_BLOCKS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/stages/block_documents.h"
#include "data/stages/block_queue.h"
#include "data/stages/part_names.h"
#include "data/stages/plan.h"
#include "data/stages/record.h"

namespace trainyard::data {

// Memory that a thread needs, except for documents of more than 4 MiB. A longer document needs up
// to 16 times its size in addition.
inline constexpr int64_t kThreadBytes = int64_t{96} << 20;

// Processes a block and writes its parts under their unfinished names. The record contains their
// final names. The output must depend only on the plan and the block. Thread-safe for different
// blocks.
using BlockWork = std::function<absl::StatusOr<BlockRecord>(const BlockLease&, const Advance&)>;

// Gives blocks to threads and receives their records. Thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  // Waits for a free block. Returns nullopt if no thread needs to continue.
  virtual absl::StatusOr<std::optional<BlockLease>> Take() = 0;
  // The functions below are those of BlockQueue.
  virtual bool Continues(const BlockLease& lease) = 0;
  virtual absl::Status Commit(const BlockLease& lease, BlockRecord record) = 0;
  virtual void Fail(const BlockLease& lease, const absl::Status& status) = 0;
};

// The queue of this process.
class LocalBlocks : public BlockSource {
 public:
  // The arguments must outlive the source. Take returns nullopt once `cancelled` is set.
  LocalBlocks(BlockQueue* queue, const std::atomic<bool>& cancelled)
      : queue_(*queue), cancelled_(cancelled) {}

  absl::StatusOr<std::optional<BlockLease>> Take() override;
  bool Continues(const BlockLease& lease) override { return queue_.Continues(lease); }
  absl::Status Commit(const BlockLease& lease, BlockRecord record) override {
    return queue_.Commit(lease, std::move(record));
  }
  void Fail(const BlockLease& lease, const absl::Status& status) override {
    queue_.Fail(lease, status);
  }

 private:
  BlockQueue& queue_;
  const std::atomic<bool>& cancelled_;
};

// Number of threads that memory and work permit, at least 1.
int ThreadsFor(int threads, int64_t memory_bytes, size_t blocks);

// Returns when no thread has work. Calls `advance` ten times a second, on the caller's thread, with
// the bytes read since the last call. Blocks fail with Cancelled once `cancelled` is set. Returns
// the errors of Take, and ResourceExhausted if no thread can be started.
absl::Status RunBlocks(BlockSource* source, const BlockWork& work, int threads,
                       const std::function<void(int64_t bytes)>& advance,
                       const std::atomic<bool>& cancelled);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_RUN_BLOCKS_H_
