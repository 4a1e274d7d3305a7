// Keeps the state of this rank and its ward in host memory during training.
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

// A copy begins when its step is launched, runs concurrently with the next step, and is valid once
// the step is confirmed as good (Confirm). All ranks snapshot the same steps. Not thread-safe; all
// arguments must outlive this.
class SnapshotKeeper {
 public:
  struct Parts {
    SnapshotMemory& memory;
    Communicator& ranks;  // All ranks; not used elsewhere.
    Buddies buddies;
    std::vector<torch::Tensor> own;   // This rank's pieces (StoredPieces), on its device.
    std::vector<torch::Tensor> ward;  // Its ward's pieces, if this rank has them; else empty.
    torch::Device device;
  };

  // Collective: all ranks construct it at the same time.
  explicit SnapshotKeeper(Parts parts);
  // Waits for running copies from the device.
  ~SnapshotKeeper();
  SnapshotKeeper(const SnapshotKeeper&) = delete;
  SnapshotKeeper& operator=(const SnapshotKeeper&) = delete;

  // Bytes of host memory for all kept states.
  int64_t Bytes() const;
  // Allocates that memory, except the memory for received pieces, in the background.
  void Reserve();

  // Takes the state after `step` and waits for it. No step may be running.
  void TakeNow(int64_t step, nlohmann::json state);

  // Call before and after the launch of a step. Starts a snapshot of the step if one is due.
  void BeforeLaunch(int64_t step);
  void AfterLaunch(int64_t step);
  // Makes work queued from now on, which changes the state, wait for the copies.
  void BlockChanges();
  // Confirms a step as good. state: the non-tensor state after it. costs: sum over all ranks.
  void Confirm(int64_t step, const std::function<nlohmann::json()>& state, double costs);

  // Delay of this rank by the latest snapshot, in steps of `step_seconds`; 0 if already taken. All
  // ranks take it at the same steps.
  double TakeCost(double step_seconds);
  // Sets the time the device waited for a snapshot's copies.
  void NoteDeviceWait(double seconds) { device_wait_seconds_ = seconds; }
  const SnapshotInterval& interval() const { return parts_.memory.interval(); }

  // Collective: all ranks together have the states in `plan`. Sends them to the receivers and loads
  // the state after plan.step onto every rank's device. Returns the non-tensor state.
  nlohmann::json Restore(const RecoveryPlan& plan);
  // The steps held by each rank, by rank. Collective; the result is the same on every rank.
  std::vector<HeldSteps> HeldByAll() const;
  const Buddies& buddies() const { return parts_.buddies; }

 private:
  using Clock = std::chrono::steady_clock;

  size_t Count() const;
  int64_t rank() const { return parts_.ranks.rank(); }
  bool NeedsExchange() const { return !parts_.buddies.have_equal_parameters(); }
  std::vector<int64_t> AskWardBytes() const;
  void MakeWardMemory(Snapshot& snapshot) const;
  void Begin(int64_t step, int64_t kept);
  void BeginExchange();
  static void NoteExchange(Snapshot& snapshot);
  static void AwaitExchange(Snapshot& snapshot);
  void BringToReceivers(const RecoveryPlan& plan);
  nlohmann::json ShareState(const RecoveryPlan& plan);

  const Parts parts_;
  std::vector<int64_t> ward_bytes_;  // By piece; empty if the ward's pieces are on this device.
  int64_t next_ = 0;                 // Step of the next snapshot.
  Snapshot* newest_ = nullptr;       // Latest snapshot, possibly still being taken.
  torch::Tensor arriving_;  // A ward's piece on the device, before its copy to host memory.
  bool has_cost_ = false;   // A cost was measured and not yet taken.
  double cost_seconds_ = 0;
  double device_wait_seconds_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_SNAPSHOT_KEEPER_H_
