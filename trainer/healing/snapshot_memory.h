// Copies of the run's state in host memory. The copies outlive the trainer object.
#ifndef TRAINYARD_TRAINER_HEALING_SNAPSHOT_MEMORY_H_
#define TRAINYARD_TRAINER_HEALING_SNAPSHOT_MEMORY_H_

#include <torch/types.h>

#include <cstdint>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "trainer/checkpoint/host_copy.h"
#include "trainer/healing/buddies.h"
#include "trainer/healing/snapshot_interval.h"
#include "trainer/parallel/work.h"

namespace trainyard::trainer {

// The state after one step: the parts of one rank and of its ward.
struct Snapshot {
  int64_t step = -1;          // Number of completed steps; -1: empty.
  bool is_confirmed = false;  // True if the step was finite and all ranks took part in it.
  bool has_ward = false;      // True if the ward's pieces are complete.
  nlohmann::json state;       // State that is not in tensors; equal on every rank.
  HostCopy own;
  HostCopy ward_copy;                        // Ward's pieces, if copied from this device.
  std::vector<torch::Tensor> ward_received;  // Ward's pieces, if received from the ward.
  std::future<std::vector<torch::Tensor>> ward_reserved;  // Becomes ward_received.
  std::vector<Work> exchange;  // Exchange with buddy and ward; empty once it ended.

  std::vector<torch::Tensor> OwnPieces() const;
  std::vector<torch::Tensor> WardPieces() const;
};

// Not thread-safe.
class SnapshotMemory {
 public:
  // Sets the rank that owns the states. Drops all states if `rank` differs from the previous owner.
  void BelongTo(int64_t rank);

  // Provides space for `count` states. Never reduces the space.
  void Resize(size_t count);

  // Returns the confirmed state after this step; null if there is none.
  Snapshot* Find(int64_t step);
  // Returns the state to overwrite: the oldest state that is not of step `kept`. If all states are
  // of step `kept`, returns the oldest.
  Snapshot& Oldest(int64_t kept);
  // Waits for running copies, and then drops the unconfirmed states. Called after the loss of a
  // rank.
  void DropUnconfirmed();

  HeldSteps Held() const;
  SnapshotInterval& interval() { return interval_; }
  const std::vector<std::unique_ptr<Snapshot>>& all() const { return snapshots_; }

 private:
  int64_t rank_ = -1;
  SnapshotInterval interval_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_SNAPSHOT_MEMORY_H_
