// Keeps this rank's state and that of its ward in host memory while training goes on.
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

// Copies are begun when a step is launched, run beside the next one, and count once the step was
// found good (Confirm). All ranks take a snapshot of the same steps. One thread at a time;
// everything given must outlive this.
class SnapshotKeeper {
 public:
  struct Parts {
    SnapshotMemory& memory;
    Communicator& ranks;  // All of them; nothing else uses it.
    Buddies buddies;
    std::vector<torch::Tensor> own;   // Pieces of this rank (StoredPieces), on its device.
    std::vector<torch::Tensor> ward;  // Of its ward, where this rank has the same; else empty.
    torch::Device device;
  };

  // All ranks make one at the same time.
  explicit SnapshotKeeper(Parts parts);
  // Copies from the device have ended.
  ~SnapshotKeeper();
  SnapshotKeeper(const SnapshotKeeper&) = delete;
  SnapshotKeeper& operator=(const SnapshotKeeper&) = delete;

  // Bytes of host memory for all states that are kept.
  int64_t Bytes() const;
  // Makes that memory in the background.
  void Reserve();

  // Takes the state after `step`, of which nothing is under way, and waits for it.
  void TakeNow(int64_t step, nlohmann::json state);

  // Around the launch of a step. A snapshot of it begins where one is due.
  void BeforeLaunch(int64_t step);
  void AfterLaunch(int64_t step);
  // Work that is queued from now on, and changes the state, waits for copies of it.
  void HoldBackChanges();
  // A step was good. state: what is not a tensor, then. costs: of all ranks, summed.
  void Confirm(int64_t step, const std::function<nlohmann::json()>& state, double costs);

  // Time for which the newest snapshot has delayed this rank, in steps of this length; 0 where that
  // was taken before. All ranks take it at the same steps.
  double TakeCost(double step_seconds);
  // The device has waited for so long for a snapshot's copies.
  void NoteDeviceWait(double seconds) { device_wait_seconds_ = seconds; }
  const SnapshotInterval& interval() const { return parts_.memory.interval(); }

  // All ranks have what `plan` needs: brings it to the receivers, and the state after plan.step to
  // the device of every rank. Returns what is not a tensor.
  nlohmann::json Restore(const RecoveryPlan& plan);
  // What all ranks have, by rank, the same on each.
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
  std::vector<int64_t> ward_bytes_;  // Of its pieces; empty where they come from the own device.
  int64_t next_ = 0;                 // Step of the next snapshot.
  Snapshot* newest_ = nullptr;       // Being taken, or taken.
  torch::Tensor arriving_;  // A piece of the ward on the device, on its way to host memory.
  bool has_cost_ = false;   // That was not taken.
  double cost_seconds_ = 0;
  double device_wait_seconds_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_SNAPSHOT_KEEPER_H_
