// Keeps the states of this rank and of its ward in host memory during training.
#ifndef TRAINYARD_TRAINER_HEALING_SNAPSHOT_KEEPER_H_
#define TRAINYARD_TRAINER_HEALING_SNAPSHOT_KEEPER_H_

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "trainer/healing/buddies.h"
#include "trainer/healing/snapshot_memory.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

// Takes snapshots. The copy of a step's state begins when the step is launched, and runs
// concurrently with the next step. The copy is valid once the step is confirmed as good (Confirm).
// All ranks take snapshots of the same steps. Not thread-safe. All arguments must outlive this
// object.
class SnapshotKeeper {
 public:
  struct Parts {
    SnapshotMemory& memory;
    Communicator& ranks;  // All ranks. Used only for snapshots.
    Buddies buddies;
    std::vector<torch::Tensor> own;   // This rank's pieces (StoredPieces), on its device.
    std::vector<torch::Tensor> ward;  // The ward's pieces, if they are on this device; else empty.
    torch::Device device;
  };

  // Collective: all ranks must construct the keeper at the same time.
  explicit SnapshotKeeper(Parts parts);
  // Waits until running copies from the device are complete.
  ~SnapshotKeeper();
  SnapshotKeeper(const SnapshotKeeper&) = delete;
  SnapshotKeeper& operator=(const SnapshotKeeper&) = delete;

  // Returns the bytes of host memory needed for all kept states.
  int64_t Bytes() const;
  // Allocates the memory for the kept states in the background.
  void Reserve();

  // Takes a snapshot of the state after `step` and waits for it. No step may be running.
  void TakeNow(int64_t step, nlohmann::json state);

  // BeforeLaunch must be called before the launch of a step, and AfterLaunch after it. The calls
  // start a snapshot of the step if a snapshot is due.
  void BeforeLaunch(int64_t step);
  void AfterLaunch(int64_t step);
  // Work that is queued later will wait until it may change the state. Must be called before
  // queueing such work. For CanBlockChanges, see HostCopy.
  void BlockChanges();
  bool CanBlockChanges() const;
  // Confirms that a step is good. `state` returns the non-tensor state after the step; `costs` is
  // the sum of all ranks' snapshot costs.
  void Confirm(int64_t step, const std::function<nlohmann::json()>& state, double costs);

  // Returns the time by which the latest snapshot delayed this rank, as a multiple of
  // `step_seconds`. Each delay is returned once; later calls return 0. All ranks must call TakeCost
  // at the same steps.
  double TakeCost(double step_seconds);
  // Sets the time for which the device waited for the copies of a snapshot.
  void NoteDeviceWait(double seconds) { device_wait_seconds_ = seconds; }
  const SnapshotInterval& interval() const { return parts_.memory.interval(); }

  // Sends the states in `plan` to the ranks that need them, and loads the state after plan.step
  // onto the device of every rank. Returns the non-tensor state. Collective: together, the ranks
  // must have all these states.
  nlohmann::json Restore(const RecoveryPlan& plan);
  // Returns, for each rank, the steps for which the rank has states. Collective; the result is
  // equal on every rank.
  std::vector<HeldSteps> HeldByAll() const;
  const Buddies& buddies() const { return parts_.buddies; }

 private:
  using Clock = std::chrono::steady_clock;

  size_t Count() const;
  int64_t rank() const { return parts_.ranks.rank(); }
  bool NeedsExchange() const { return !parts_.buddies.have_equal_parameters(); }
  std::vector<int64_t> AskWardBytes() const;
  // Reserves host memory for the ward's pieces on another thread.
  void ReserveWardMemory(Snapshot& snapshot) const;
  // Waits for the reserved memory, or allocates it.
  void MakeWardMemory(Snapshot& snapshot) const;
  void Begin(int64_t step, int64_t kept, CopyPace pace);
  void BeginExchange();
  static void NoteExchange(Snapshot& snapshot);
  static void AwaitExchange(Snapshot& snapshot);
  void BringToReceivers(const RecoveryPlan& plan);
  nlohmann::json ShareState(const RecoveryPlan& plan);

  const Parts parts_;
  std::vector<int64_t> ward_bytes_;  // By piece. Empty if the ward's pieces are on this device.
  int64_t next_ = 0;                 // Step of the next snapshot.
  Snapshot* newest_ = nullptr;       // Latest snapshot, which may be incomplete.
  torch::Tensor arriving_;           // A piece of the ward that has arrived on the device.
  bool has_cost_ = false;            // True until TakeCost has returned the latest cost.
  double cost_seconds_ = 0;
  double device_wait_seconds_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_SNAPSHOT_KEEPER_H_
