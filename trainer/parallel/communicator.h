// Communication within a group of ranks. During training, ranks communicate only through this
// class. The build selects the backend: Gloo for CPUs, NCCL for GPUs.
#ifndef TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_
#define TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trainer/parallel/interruption/flight_record.h"
#include "trainer/parallel/interruption/operation.h"
#include "trainer/parallel/row_pieces.h"
#include "trainer/parallel/step_clock.h"
#include "trainer/parallel/work.h"

namespace trainyard::trainer {

class Rendezvous;

// A member that does not respond within these time limits counts as lost.
struct PeerLimits {
  // The ranks of a gang usually start within seconds of each other, but a slow file system may
  // delay a rank by minutes.
  std::chrono::seconds connect{300};
  // train.distributed_timeout_s in a run. Gloo detects a dead peer at once, because its connections
  // close. NCCL may wait for a dead peer on the same node until this limit ends the wait.
  std::chrono::seconds operation{600};
};

struct CommunicatorGroup {
  std::string name;            // Unique in the run, such as "dp0".
  std::vector<int64_t> ranks;  // World ranks, ascending.
  int64_t my_rank = 0;         // World rank; an element of `ranks`.
  bool has_transfers = false;  // The members also use Exchange or AllToAll.
  PeerLimits limits = {};
  // The size of the largest tensor that the members gather or sum by copies between their devices
  // (EmptyForGather, ReduceScatter in pieces); 0: no copies. Must be equal on all members.
  int64_t copied_bytes = 0;

  // The position of my_rank in the group.
  int64_t Position() const;
};

// The input of a reduce-scatter that is computed piece by piece.
struct ComputedInput {
  int64_t pieces = 1;  // The number of pieces into which the rows of each other member are divided.
  // Queues the computation of `count` rows of the input, from row `first`, on the current stream.
  // Must not use the group.
  std::function<void(int64_t first, int64_t count)> compute;
};

// All members must begin the same operations in the same order, each from one thread. The tensors
// must be contiguous, of equal sizes and types, and on the communicator's device. Operations of a
// group run one after another, concurrently with the caller's work. On a GPU, an operation runs on
// the group's own stream, after the work that was already queued on the current stream when the
// operation began. Sums are added in the same order in every run, and every member gets the same
// bits. Sums of bf16 and fp16 are rounded to their type.
//
// If a member is lost or does not respond in time, every method and every wait for a Work throws
// TrainerError(kPeerLost) with the name of the operation. The communicator is then unusable. No
// operation is still running, so freeing device memory does not wait for the lost member.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<int64_t>& ranks() const { return ranks_; }  // World ranks, ascending.
  int64_t rank() const { return rank_; }                        // Position within the group.
  int64_t size() const { return static_cast<int64_t>(ranks_.size()); }

  // Adds all later waits for the operations of this group to `part` of a step's time. `clock` must
  // outlive the use of the group.
  void CountWaits(StepClock& clock, StepPart part);

  [[nodiscard]] Work AllReduce(torch::Tensor tensor, ReduceOp op = ReduceOp::kSum);
  // Concatenates the members' inputs along the first dimension, in rank order. The input may be
  // this member's part of the output.
  [[nodiscard]] Work AllGather(torch::Tensor output, torch::Tensor input,
                               OwnPart own_part = OwnPart::kCopied);
  // Returns an uninitialized tensor for the output of AllGather. With NCCL, members on one host
  // copy their inputs directly into such tensors, without multiprocessors. The parts of the members
  // then arrive one by one (Work::WaitForPart). All members must call this method, and free the
  // tensor, at the same points of their program.
  virtual torch::Tensor EmptyForGather(at::IntArrayRef shape, const torch::TensorOptions& options);
  // Reduces the members' inputs. Each member's output is its share of the result along the first
  // dimension, in rank order. The output may be the corresponding part of the input; the other
  // parts of the input are then undefined.
  [[nodiscard]] Work ReduceScatter(torch::Tensor output, torch::Tensor input,
                                   ReduceOp op = ReduceOp::kSum);
  // Like ReduceScatter with ReduceOp::kSum. Computes the rows that other members need first. With
  // NCCL, members on one host send each piece while the next one is computed.
  [[nodiscard]] Work ReduceScatter(torch::Tensor output, torch::Tensor input,
                                   const ComputedInput& computed);
  // Sends input_rows[m] rows of the input to each member m, and receives output_rows[m] rows from
  // each member m. Both tensors contain the rows in member order. A count may be 0.
  [[nodiscard]] Work AllToAll(torch::Tensor output, torch::Tensor input,
                              std::vector<int64_t> output_rows, std::vector<int64_t> input_rows);
  [[nodiscard]] Work Broadcast(torch::Tensor tensor, int64_t root);
  // Sends and receives concurrently. The sends of one member match the receives of another in
  // order. A member without transfers must not call Exchange.
  [[nodiscard]] Work Exchange(std::vector<Transfer> transfers);
  // Runs `work`, and the device work that it queues, after all earlier operations and before all
  // later operations. `work` must not use the group.
  [[nodiscard]] Work Then(std::function<void()> work);

  // Returns when all members have called Barrier.
  void Barrier();

  // Waits until this group is connected. The first operation does the same. Members must open their
  // groups in one order, because opening a group may wait for the other members.
  virtual void Open() {}

  // Waits until done() is true. Use it for device work that depends on the other members.
  virtual void WaitUntil(const std::function<bool()>& done) = 0;

  // Ends all operations on this rank, including those waiting for a member. The communicator is
  // unusable afterwards. Thread-safe. Never waits for a member.
  virtual void Abort() = 0;

  // Describes how members exchange large tensors, such as "copies between devices". Empty if the
  // group has one way only.
  virtual std::string Transport() const { return ""; }

  const FlightRecord& flight() const { return flight_; }

  // Returns the sequence number, from 1, of the next SumOverMembers call. The number is the same on
  // every member.
  uint64_t CountSum() { return ++sums_; }

 protected:
  explicit Communicator(const CommunicatorGroup& group)
      : name_(group.name), ranks_(group.ranks), rank_(group.Position()) {}

  // Begins a validated operation. `sequence` is the operation's number in flight().
  virtual Work Begin(Operation operation, uint64_t sequence) = 0;
  // Begins a validated reduce-scatter whose input is computed piece by piece, in this order.
  virtual Work BeginInPieces(Operation operation, uint64_t sequence,
                             const std::vector<RowPiece>& order, const ComputedInput& computed);
  virtual torch::Device device() const = 0;

  FlightRecord flight_;

 private:
  Work Record(Operation operation);
  Work Counted(Work work) const;

  const std::string name_;
  const std::vector<int64_t> ranks_;
  const int64_t rank_;
  StepClock* clock_ = nullptr;
  StepPart part_ = StepPart::kCompute;
  uint64_t sums_ = 0;
};

// Returns a group of one rank, in which every operation is a copy or a no-op.
std::unique_ptr<Communicator> MakeSingleProcessCommunicator(
    torch::Device device = torch::Device(torch::kCPU));

// Begins to connect a group; Communicator::Open waits for the connection. All members must call
// this function. `rendezvous` may be null if the group has only one member. This function, Open and
// the first operation throw TrainerError(kPeerLost) if a member does not connect in time.
std::unique_ptr<Communicator> ConnectGroup(Rendezvous* rendezvous, const CommunicatorGroup& group,
                                           torch::Device device);

// Returns the element-wise sums of small host values, which are the same on every member. Throws
// TrainerError(kPeerLost) if a member is lost or has left the group during the sum, because the
// sums are then invalid.
std::vector<double> SumOverMembers(Communicator& communicator, const std::vector<double>& values,
                                   torch::Device device);

// Loads what the communication library needs on this device, so that a later connection is faster.
void WarmCommunication(torch::Device device);

// Returns the name and version of the communication library, such as "NCCL 2.27.7".
std::string CommunicationLibrary();

// Connects a group of several ranks. Each backend, Gloo or NCCL, implements this function; a build
// contains one backend. Called by ConnectGroup.
std::unique_ptr<Communicator> ConnectBackend(Rendezvous& rendezvous, const CommunicatorGroup& group,
                                             torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_
