// The unfinished blocks of a run, and who works on them.
#ifndef TRAINYARD_DATA_STAGES_BLOCK_QUEUE_H_
#define TRAINYARD_DATA_STAGES_BLOCK_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "data/stages/part_names.h"
#include "data/stages/plan.h"
#include "data/stages/record.h"
#include "data/stages/run_directory.h"
#include "data/stages/run_totals.h"

namespace trainyard::data {

// Leases blocks to holders and stores their records. A holder is a process. Thread-safe.
class BlockQueue {
 public:
  enum class State {
    kLeased,  // `lease` is set
    kWait,    // other holders have all remaining blocks
    kEnded,   // every block has a record, or a block failed
  };
  struct Offer {
    State state = State::kEnded;
    BlockLease lease;
  };
  // A block in work.
  struct Running {
    size_t block = 0;
    int holder = 0;
    double seconds = 0;  // since it was leased
  };
  // The holder that never loses its leases: this process.
  static constexpr int kLocalHolder = 0;
  // Number of times that holders may lose a block before the run fails. The block probably ends
  // each process that reads it, for example because of its memory.
  static constexpr int kLossesMax = 3;

  // The arguments must outlive the queue. `totals` contains the records of an earlier run.
  BlockQueue(const Plan& plan, RunDirectory* directory, RunTotals* totals);

  // Leases the first free block.
  Offer Take(int holder);
  // Waits for a free block, at most `patience`.
  Offer TakeWithin(int holder, std::chrono::milliseconds patience);
  // False if the lease is lost or if an earlier block failed. The later block is then not needed.
  bool Continues(const BlockLease& lease);

  // Stores the record of a block whose parts have their unfinished names. Afterwards the record is
  // on disk, and the parts have their final names. Returns Aborted if the lease is lost.
  absl::Status Commit(const BlockLease& lease, BlockRecord record);
  // Ends the run with an error. If several blocks fail, the error of the first one counts.
  void Fail(const BlockLease& lease, const absl::Status& status);
  // Frees the blocks of a holder that has ended.
  void Release(int holder);
  // Ends the run with an error. All leases are lost.
  void End(const absl::Status& status);

  // Waits until every block has a record, or until a block has failed and the earlier leased blocks
  // have ended. Returns the failure.
  absl::Status Wait();

  // Bytes on disk of the blocks that other holders have finished since the last call.
  int64_t TakeForeignBytes();
  // The sums of the records, without `dropped`. They include the blocks before the first one
  // without a record.
  DocumentCounts Counts();
  // The block that has been in work for the longest time; nullopt if no block is leased.
  std::optional<Running> LongestRunning();

 private:
  static constexpr size_t kNoBlock = std::numeric_limits<size_t>::max();
  struct Holding {
    int holder = 0;
    uint64_t number = 0;
    std::chrono::steady_clock::time_point since;
  };

  Offer TakeLocked(int holder);
  bool Ended() const;
  bool Holds(const BlockLease& lease) const;
  void FailLocked(size_t block, const absl::Status& status);

  const Plan& plan_;
  RunDirectory& directory_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  RunTotals& totals_;
  std::map<size_t, Holding> leased_;  // by block
  std::map<size_t, int> losses_;      // by block; blocks without losses are absent
  uint64_t next_number_;
  size_t next_ = 0;                 // earlier blocks are recorded or leased
  size_t failed_block_ = kNoBlock;  // the first one
  absl::Status failure_;
  absl::Status commit_failure_;
  int64_t foreign_bytes_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_BLOCK_QUEUE_H_
