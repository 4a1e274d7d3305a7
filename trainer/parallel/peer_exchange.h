// Exchanges large tensors by copies between the devices of one host. The copy engines of the GPUs
// need no multiprocessors, so a running matrix product does not delay an exchange.
#ifndef TRAINYARD_TRAINER_PARALLEL_PEER_EXCHANGE_H_
#define TRAINYARD_TRAINER_PARALLEL_PEER_EXCHANGE_H_

#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "proto/memory/memory_model.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/device/cuda_event.h"
#include "trainer/parallel/device/stream_values.h"
#include "trainer/parallel/peer_window.h"
#include "trainer/parallel/slot_pool.h"

namespace trainyard::trainer {

// Each member's window has kExchangeSlots slots. An exchange uses one slot, with the same number on
// all members: the members take and free slots at the same points of their program. Members copy
// their inputs into the slots of the others. Two counters per slot and pair of members order the
// copies:
// - A member raises `ready` when its device no longer uses the earlier contents of its slot. The
//   other member waits for `ready` before it copies.
// - The other member raises `arrived` when its copy is complete.
// The counters count the uses of a slot. They wrap around.
//
// The methods queue their work on the group's stream, unless stated otherwise. Except for Release,
// they must be called from one thread.
class PeerExchange {
 public:
  // Collective over `group`, whose operations must run. Tests the copies. Returns null on all
  // members if they do not work; `why_not` is then the reason. Throws TrainerError(kPeerLost).
  static std::unique_ptr<PeerExchange> Connect(Communicator& group, c10::cuda::CUDAStream stream,
                                               int64_t slot_bytes, std::string& why_not);
  // Ends all waits for other members.
  ~PeerExchange();
  PeerExchange(const PeerExchange&) = delete;
  PeerExchange& operator=(const PeerExchange&) = delete;

  // Returns a tensor in a slot; undefined if it is too large or no slot is free.
  torch::Tensor EmptyInSlot(at::IntArrayRef shape, const torch::TensorOptions& options);
  bool IsInSlot(const torch::Tensor& tensor) const;

  // All-gather into a tensor in a slot. Sets arrived[m] when the part of member m is there. The
  // event at the member's own index marks a copy on a stream of the exchange.
  void Gather(const Operation& gather, std::vector<CudaEvent>& arrived);

  // A sum in pieces: TakeSlot; BeginSum; Send for each piece of another member; EndSum. Then
  // Summands, on the stream that adds them.
  using Slot = std::shared_ptr<SlotPool::Lease>;
  // Returns null if the input of the reduce-scatter is too large or no slot is free.
  Slot TakeSlot(const Operation& sum);
  void BeginSum(const Slot& slot) { BeginUse(slot->slot()); }
  void Send(const Slot& slot, const Operation& sum, const RowPiece& piece);
  void EndSum(const Slot& slot);
  // Returns the members' parts of the result, in rank order. The parts of other members keep the
  // slot in use.
  std::vector<torch::Tensor> Summands(const Slot& slot, const Operation& sum) const;

  // Ends all waits of this device's streams for other members, now and in future. Results are then
  // undefined. Thread-safe; calls no CUDA function.
  void Release() noexcept;

 private:
  PeerExchange(const Communicator& group, c10::cuda::CUDAStream stream, int64_t slot_bytes,
               std::unique_ptr<PeerWindow> window);

  enum class Counter { kReady, kArrived };

  char* SlotOf(int64_t member, int64_t slot) const {
    return window_->Of(member) + slot * slot_bytes_;
  }
  // The index of the counter that `from` raises and `to` waits for.
  int64_t FlagOf(Counter counter, int64_t slot, int64_t from, int64_t to) const;
  void Raise(Counter counter, int64_t slot, int64_t to);
  void Await(Counter counter, int64_t slot, int64_t from);
  void BeginUse(int64_t slot);
  void CopyOwnPart(const Operation& gather, CudaEvent& copied);
  // Exchanges known numbers. Throws TrainerError if they do not arrive.
  void Test();
  bool IsIdle() const;
  void StoreReleases();

  const int64_t size_;
  const int64_t rank_;
  const c10::cuda::CUDAStream stream_;
  const c10::cuda::CUDAStream own_copies_;  // Copies within this device.
  const int64_t slot_bytes_;
  std::unique_ptr<PeerWindow> window_;
  const std::shared_ptr<SlotPool> slots_ = std::make_shared<SlotPool>(kExchangeSlots);
  const StreamValues values_;
  CudaEvent ready_;  // Marks the work that precedes a gather.
  std::vector<std::atomic<uint32_t>> uses_ = std::vector<std::atomic<uint32_t>>(kExchangeSlots);
  std::atomic<bool> is_released_{false};
  std::atomic<bool> stop_{false};
  std::thread releasing_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_PEER_EXCHANGE_H_
