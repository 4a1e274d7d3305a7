// States of the run in host memory, which outlive what trains.
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

// What one rank has of the state after a step.
struct Snapshot {
  int64_t step = -1;          // Steps completed; -1: nothing.
  bool is_confirmed = false;  // The step was good: finite, and of a gang that was whole.
  bool has_ward = false;      // The ward's pieces are complete.
  nlohmann::json state;       // Everything that is not a tensor; the same on every rank.
  HostCopy own;
  HostCopy ward_copy;                        // Of the ward's pieces, from the own device;
  std::vector<torch::Tensor> ward_received;  // or from the ward,
  std::vector<Work> exchange;                // by these, until they have ended.

  std::vector<torch::Tensor> OwnPieces() const;
  std::vector<torch::Tensor> WardPieces() const;
};

// One thread at a time.
class SnapshotMemory {
 public:
  // Drops everything where the rank is another one than before.
  void BelongTo(int64_t rank);

  // Makes room for so many states; more than before is not needed later.
  void Resize(size_t count);

  // The state with this step that may be gone on from; null: none.
  Snapshot* Find(int64_t step);
  // The one to overwrite: the oldest, but not the only one of step `kept`.
  Snapshot& Oldest(int64_t kept);
  // Forgets what is not confirmed or not complete: the gang has lost a rank.
  void DropUnconfirmed();

  HeldSteps Held() const;
  // Of the snapshots of this run.
  SnapshotInterval& interval() { return interval_; }
  const std::vector<std::unique_ptr<Snapshot>>& all() const { return snapshots_; }

 private:
  int64_t rank_ = -1;
  SnapshotInterval interval_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_SNAPSHOT_MEMORY_H_
