// Communication among a group of ranks: the only one between ranks during training. The build
// chooses the backend (Gloo for CPU, NCCL for GPU).
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

// Times after which a member that does not answer counts as lost.
struct PeerLimits {
  // A gang's ranks start within seconds of each other; slow file systems may take minutes.
  std::chrono::seconds connect{300};
  // Long enough for a peer that saves or loads a large checkpoint. The closed connection of a peer
  // that has died is usually detected at once.
  std::chrono::seconds operation{600};
};

struct CommunicatorGroup {
  std::string name;            // Unique in the run, such as "dp0".
  std::vector<int64_t> ranks;  // Of the world, ascending.
  int64_t my_rank = 0;         // Of the world; one of `ranks`.
  PeerLimits limits = {};

  // Position of my_rank in the group.
  int64_t Position() const;
};

// Every member begins the same operations in the same order, from one thread, on contiguous tensors
// of the same sizes and types on the communicator's device. Operations of a group run one after the
// other, beside the caller's own work: on a GPU on a stream of the group, behind what is queued on
// the current stream when they begin. Sums are made in an order that is the same in every run, and
// every member gets the same bits. Sums of bf16 and fp16 are rounded to their type.
// Every method, and every wait for a Work, throws TrainerError(kPeerLost) that names the operation
// when a member is gone or does not answer in time; the communicator is unusable then, and no
// operation of it is running any more: freeing memory of the device does not wait for the lost
// member.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<int64_t>& ranks() const { return ranks_; }  // Of the world, ascending.
  int64_t rank() const { return rank_; }                        // Position in the group.
  int64_t size() const { return static_cast<int64_t>(ranks_.size()); }

  // From now on a step's time counts waits for this group's operations as `part`. The clock must
  // outlive the use of the group.
  void CountWaits(StepClock& clock, StepPart part);

  [[nodiscard]] Work AllReduce(torch::Tensor tensor, ReduceOp op = ReduceOp::kSum);
  // Concatenates the members' inputs in rank order along the first dimension. The input may be this
  // member's part of the output.
  [[nodiscard]] Work AllGather(torch::Tensor output, torch::Tensor input);
  // Reduces the members' inputs and keeps this member's share along the first dimension. The output
  // may be that part of the input, whose other parts are of no use then.
  [[nodiscard]] Work ReduceScatter(torch::Tensor output, torch::Tensor input,
                                   ReduceOp op = ReduceOp::kSum);
  // Sends input_rows[m] rows of the input to each member m in turn, and gets output_rows[m] from it
  // in turn. A number may be 0.
  [[nodiscard]] Work AllToAll(torch::Tensor output, torch::Tensor input,
                              std::vector<int64_t> output_rows, std::vector<int64_t> input_rows);
  [[nodiscard]] Work Broadcast(torch::Tensor tensor, int64_t root);
  // Sends and receives at the same time. Transfers between two members match in their order; the
  // members that take no part in them begin nothing.
  [[nodiscard]] Work Exchange(std::vector<Transfer> transfers);
  // Calls `work`, or queues what it queues, behind the operations before it and before those after
  // it. It must not use the group.
  [[nodiscard]] Work Then(std::function<void()> work);

  // Returns when all members have come here.
  void Barrier();

  // Waits until done() is true, for work of the device that depends on the members.
  virtual void WaitUntil(const std::function<bool()>& done) = 0;

  // Ends all operations on this rank, also those that wait for a member; the communicator is
  // unusable then. For any thread. Never waits for a member.
  virtual void Abort() = 0;

  const FlightRecord& flight() const { return flight_; }

  // Number of the next call of SumOverMembers, from 1: the same on every member.
  uint64_t CountSum() { return ++sums_; }

 protected:
  explicit Communicator(const CommunicatorGroup& group)
      : name_(group.name), ranks_(group.ranks), rank_(group.Position()) {}

  // Begins an operation whose tensors fit together. `sequence` is its number in flight().
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

// A group of one: every operation is a copy or nothing.
std::unique_ptr<Communicator> MakeSingleProcessCommunicator(
    torch::Device device = torch::Device(torch::kCPU));

// Connects the members of a group; all of them call it. A group of one needs no rendezvous, which
// may then be null. Throws TrainerError(kPeerLost) when a member does not connect in time.
std::unique_ptr<Communicator> ConnectGroup(Rendezvous* rendezvous, const CommunicatorGroup& group,
                                           torch::Device device);

// The element-wise sums of small host values, the same on every member. Throws
// TrainerError(kPeerLost) also when a member has left the group meanwhile, and the sums are none.
std::vector<double> SumOverMembers(Communicator& communicator, const std::vector<double>& values,
                                   torch::Device device);

// The library that moves the data, with its version: "NCCL 2.27.7".
std::string CommunicationLibrary();

// Connects a group of several ranks; called by ConnectGroup. Each build has one: Gloo or NCCL.
std::unique_ptr<Communicator> ConnectBackend(Rendezvous& rendezvous, const CommunicatorGroup& group,
                                             torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_
