// Communication among a group of ranks. Ranks communicate only through it during training. The
// build selects the backend (Gloo for CPU, NCCL for GPU).
#ifndef TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_
#define TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trainer/parallel/flight_record.h"
#include "trainer/parallel/operation.h"
#include "trainer/parallel/step_clock.h"
#include "trainer/parallel/work.h"

namespace trainyard::trainer {

class Rendezvous;

// Time limits after which an unresponsive member counts as lost.
struct PeerLimits {
  // Ranks of a gang start within seconds of each other; a slow file system may delay one by
  // minutes.
  std::chrono::seconds connect{300};
  // Long enough for a peer to save or load a large checkpoint. The closed connection of a dead peer
  // is usually detected immediately.
  std::chrono::seconds operation{600};
};

struct CommunicatorGroup {
  std::string name;            // Unique in the run, such as "dp0".
  std::vector<int64_t> ranks;  // World ranks, ascending.
  int64_t my_rank = 0;         // World rank; one of `ranks`.
  PeerLimits limits = {};

  // Position of my_rank in the group.
  int64_t Position() const;
};

// All members begin the same operations in the same order, from one thread, on contiguous tensors
// of equal sizes and types on the communicator's device. Operations of a group run one after
// another, concurrently with the caller's work. On a GPU they run on the group's own stream, after
// the work queued on the current stream when they begin. Sums are added in the same order in every
// run, and every member gets the same bits. Sums of bf16 and fp16 are rounded to their type.
// Every method, and every wait for a Work, throws TrainerError(kPeerLost) naming the operation if a
// member is lost or does not respond in time. The communicator is unusable afterwards, and none of
// its operations is still running, so freeing device memory does not wait for the lost member.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<int64_t>& ranks() const { return ranks_; }  // World ranks, ascending.
  int64_t rank() const { return rank_; }                        // Position in the group.
  int64_t size() const { return static_cast<int64_t>(ranks_.size()); }

  // From now on counts waits for this group's operations as `part` of a step's time. The clock must
  // outlive the use of the group.
  void CountWaits(StepClock& clock, StepPart part);

  [[nodiscard]] Work AllReduce(torch::Tensor tensor, ReduceOp op = ReduceOp::kSum);
  // Concatenates the members' inputs in rank order along the first dimension. The input may be this
  // member's part of the output.
  [[nodiscard]] Work AllGather(torch::Tensor output, torch::Tensor input);
  // Reduces the members' inputs and keeps this member's share along the first dimension. The output
  // may be that part of the input; the other parts of the input are then undefined.
  [[nodiscard]] Work ReduceScatter(torch::Tensor output, torch::Tensor input,
                                   ReduceOp op = ReduceOp::kSum);
  // Sends input_rows[m] rows of the input to each member m in order, and receives output_rows[m]
  // rows from each. A count may be 0.
  [[nodiscard]] Work AllToAll(torch::Tensor output, torch::Tensor input,
                              std::vector<int64_t> output_rows, std::vector<int64_t> input_rows);
  [[nodiscard]] Work Broadcast(torch::Tensor tensor, int64_t root);
  // Sends and receives concurrently. Transfers between two members match in order. Members without
  // a transfer do not call it.
  [[nodiscard]] Work Exchange(std::vector<Transfer> transfers);
  // Runs `work`, or the device work it queues, after all earlier operations and before all later
  // ones. `work` must not use the group.
  [[nodiscard]] Work Then(std::function<void()> work);

  // Returns when all members have called it.
  void Barrier();

  // Waits until done() is true, for device work that depends on the members.
  virtual void WaitUntil(const std::function<bool()>& done) = 0;

  // Ends all operations on this rank, including those waiting for a member. The communicator is
  // unusable afterwards. Thread-safe. Never waits for a member.
  virtual void Abort() = 0;

  const FlightRecord& flight() const { return flight_; }

  // Sequence number of the next SumOverMembers call, from 1; the same on every member.
  uint64_t CountSum() { return ++sums_; }

 protected:
  explicit Communicator(const CommunicatorGroup& group)
      : name_(group.name), ranks_(group.ranks), rank_(group.Position()) {}

  // Begins a validated operation. `sequence` is its number in flight().
  virtual Work Begin(Operation operation, uint64_t sequence) = 0;
  virtual torch::Device device() const = 0;

  FlightRecord flight_;

 private:
  Work Record(Operation operation);

  const std::string name_;
  const std::vector<int64_t> ranks_;
  const int64_t rank_;
  StepClock* clock_ = nullptr;
  StepPart part_ = StepPart::kCompute;
  uint64_t sums_ = 0;
};

// A group of one, in which every operation is a copy or a no-op.
std::unique_ptr<Communicator> MakeSingleProcessCommunicator(
    torch::Device device = torch::Device(torch::kCPU));

// Connects the members of a group. Collective over the members. `rendezvous` may be null for a
// group of one. Throws TrainerError(kPeerLost) if a member does not connect in time.
std::unique_ptr<Communicator> ConnectGroup(Rendezvous* rendezvous, const CommunicatorGroup& group,
                                           torch::Device device);

// Element-wise sums of small host values, the same on every member. Throws TrainerError(kPeerLost)
// also if a member has left the group meanwhile, which makes the sums invalid.
std::vector<double> SumOverMembers(Communicator& communicator, const std::vector<double>& values,
                                   torch::Device device);

// Name and version of the communication library, such as "NCCL 2.27.7".
std::string CommunicationLibrary();

// Connects a group of several ranks; called by ConnectGroup. Implemented by one backend per build:
// Gloo or NCCL.
std::unique_ptr<Communicator> ConnectBackend(Rendezvous& rendezvous, const CommunicatorGroup& group,
                                             torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_
