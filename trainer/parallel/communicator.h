// Collectives among a group of ranks: the only communication between ranks during training. The
// build chooses the backend (Gloo for CPU, NCCL for GPU).
#ifndef TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_
#define TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trainyard::trainer {

class Rendezvous;

enum class ReduceOp { kSum, kMax };

// Every member calls the same operations in the same order, from one thread. Tensors are
// contiguous and on the communicator's device. An operation may still be running when it returns
// (GPU work is queued in stream order); Wait() waits.
// Every method throws TrainerError(kPeerLost) that names the operation when a member is gone or
// does not answer in time; the communicator is unusable then, and no operation of it is running
// any more: freeing memory of the device does not wait for the lost member.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int64_t rank() const = 0;  // Position in the group.
  virtual int64_t size() const = 0;

  // Reduces element-wise, in an order that is the same in every run and gives every member the
  // same bits.
  virtual void AllReduce(torch::Tensor& tensor, ReduceOp op) = 0;
  // Concatenates the members' inputs in rank order along the first dimension. The input may be this
  // member's part of the output.
  virtual void AllGather(torch::Tensor& output, const torch::Tensor& input) = 0;
  // Sums the members' inputs and keeps this member's share along the first dimension. The output
  // may be that part of the input.
  virtual void ReduceScatter(torch::Tensor& output, const torch::Tensor& input) = 0;
  virtual void Broadcast(torch::Tensor& tensor, int64_t root) = 0;
  virtual void Barrier() = 0;

  // Waits until all operations so far are complete on this rank.
  virtual void Wait() = 0;
  // Waits until done() is true, for work that depends on the members.
  virtual void WaitUntil(const std::function<bool()>& done) = 0;
};

// A group of one: every operation is a copy or nothing.
std::unique_ptr<Communicator> MakeSingleProcessCommunicator();

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
};

// Connects the members of a group; all of them call it. A group of one needs no rendezvous, which
// may then be null. Throws TrainerError(kPeerLost) when a member does not connect in time.
std::unique_ptr<Communicator> ConnectGroup(Rendezvous* rendezvous, const CommunicatorGroup& group,
                                           torch::Device device);

// The element-wise sums of small host values, the same on every member.
std::vector<double> SumOverMembers(Communicator& communicator, const std::vector<double>& values,
                                   torch::Device device);

// Connects a group of several ranks; called by ConnectGroup. Each build has one: Gloo or NCCL.
std::unique_ptr<Communicator> ConnectBackend(Rendezvous& rendezvous, const CommunicatorGroup& group,
                                             torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_COMMUNICATOR_H_
