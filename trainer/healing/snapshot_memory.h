// Copies of the run's state in host memory, which outlive the trainer.
#ifndef TRAINYARD_TRAINER_HEALING_SNAPSHOT_MEMORY_H_
#define TRAINYARD_TRAINER_HEALING_SNAPSHOT_MEMORY_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "trainer/checkpoint/host_copy.h"
#include "trainer/healing/buddies.h"
#include "trainer/healing/snapshot_interval.h"
#include "trainer/parallel/work.h"

namespace trainyard::trainer {

// One rank's part of the state after a step.
struct Snapshot {
  int64_t step = -1;          // Completed steps; -1: empty.
  bool is_confirmed = false;  // The step was finite and had all ranks of the gang.
  bool has_ward = false;      // The ward's pieces are complete.
  nlohmann::json state;       // The non-tensor state; the same on every rank.
  HostCopy own;
  HostCopy ward_copy;                        // Ward's pieces, if copied from the own device.
  std::vector<torch::Tensor> ward_received;  // Ward's pieces, if received.
  std::vector<Work> exchange;                // Exchange with buddy and ward; empty once ended.

  std::vector<torch::Tensor> OwnPieces() const;
  std::vector<torch::Tensor> WardPieces() const;
};

// Not thread-safe.
class SnapshotMemory {
 public:
  // Drops all states if `rank` differs from the previous rank.
  void BelongTo(int64_t rank);

  // Makes space for `count` states. Never shrinks.
  void Resize(size_t count);

  // The confirmed state of this step; null if none.
  Snapshot* Find(int64_t step);
  // The state to overwrite: the oldest one, except that of step `kept` unless all are of that step.
  Snapshot& Oldest(int64_t kept);
  // Waits for running copies and drops unconfirmed states, after the loss of a rank.
  void DropUnconfirmed();

  HeldSteps Held() const;
  // Interval between the snapshots of this run.
  SnapshotInterval& interval() { return interval_; }
  const std::vector<std::unique_ptr<Snapshot>>& all() const { return snapshots_; }

 private:
  int64_t rank_ = -1;
  SnapshotInterval interval_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_SNAPSHOT_MEMORY_H_
