#include "trainer/parallel/communicator.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

class SingleProcessCommunicator final : public Communicator {
 public:
  explicit SingleProcessCommunicator(torch::Device device)
      : Communicator({.name = "alone", .ranks = {0}}), device_(device) {}

  void WaitUntil(const std::function<bool()>& done) override {
    while (!done()) std::this_thread::sleep_for(kPollInterval);
  }
  void Abort() override {}

 private:
  static constexpr std::chrono::microseconds kPollInterval{20};

  Work Begin(Operation operation, uint64_t sequence) override {
    flight_.Enter(sequence);
    RunAlone(operation);
    flight_.Leave(sequence);
    return Work();
  }
  torch::Device device() const override { return device_; }

  const torch::Device device_;
};

void CheckAlike(const Tensor& output, const Tensor& input) {
  TORCH_CHECK(output.is_contiguous() && input.is_contiguous() &&
                  output.scalar_type() == input.scalar_type(),
              "the tensors of a collective must be contiguous and have the same type");
}

int64_t Sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

}  // namespace

Work Communicator::AllReduce(Tensor tensor, ReduceOp op) {
  CheckAlike(tensor, tensor);
  return Record({.kind = Operation::Kind::kAllReduce, .reduce = op, .output = std::move(tensor)});
}

Work Communicator::AllGather(Tensor output, Tensor input, OwnPart own_part) {
  CheckAlike(output, input);
  TORCH_CHECK(output.numel() == input.numel() * size(),
              "the output of an all-gather must have one part per rank");
  return Record({.kind = Operation::Kind::kAllGather,
                 .own_part = own_part,
                 .output = std::move(output),
                 .input = std::move(input)});
}

Work Communicator::ReduceScatter(Tensor output, Tensor input, ReduceOp op) {
  CheckAlike(output, input);
  TORCH_CHECK(input.numel() == output.numel() * size(),
              "the input of a reduce-scatter must have one part per rank");
  return Record({.kind = Operation::Kind::kReduceScatter,
                 .reduce = op,
                 .output = std::move(output),
                 .input = std::move(input)});
}

Tensor Communicator::EmptyForGather(at::IntArrayRef shape, const torch::TensorOptions& options) {
  return torch::empty(shape, options);
}

Work Communicator::ReduceScatter(Tensor output, Tensor input, const ComputedInput& computed) {
  CheckAlike(output, input);
  const int64_t rows = input.size(0);
  TORCH_CHECK(input.numel() == output.numel() * size() && rows % (size() * computed.pieces) == 0,
              "the input of a reduce-scatter must have the same number of pieces for every rank");
  Operation operation{.kind = Operation::Kind::kReduceScatter,
                      .output = std::move(output),
                      .input = std::move(input)};
  const uint64_t sequence = flight_.Queue(operation);
  return Counted(BeginInPieces(std::move(operation), sequence,
                               PiecesInSendOrder(size(), rank_, rows, computed.pieces), computed));
}

Work Communicator::BeginInPieces(Operation operation, uint64_t sequence,
                                 const std::vector<RowPiece>& order,
                                 const ComputedInput& computed) {
  for (const RowPiece& piece : order) computed.compute(piece.first, piece.count);
  return Begin(std::move(operation), sequence);
}

Work Communicator::AllToAll(Tensor output, Tensor input, std::vector<int64_t> output_rows,
                            std::vector<int64_t> input_rows) {
  CheckAlike(output, input);
  TORCH_CHECK(static_cast<int64_t>(output_rows.size()) == size() &&
                  static_cast<int64_t>(input_rows.size()) == size() &&
                  Sum(output_rows) == output.size(0) && Sum(input_rows) == input.size(0),
              "the row counts of an all-to-all must add up to the rows of its tensors");
  return Record({.kind = Operation::Kind::kAllToAll,
                 .output = std::move(output),
                 .input = std::move(input),
                 .output_rows = std::move(output_rows),
                 .input_rows = std::move(input_rows)});
}

Work Communicator::Broadcast(Tensor tensor, int64_t root) {
  CheckAlike(tensor, tensor);
  return Record({.kind = Operation::Kind::kBroadcast, .output = std::move(tensor), .root = root});
}

Work Communicator::Exchange(std::vector<Transfer> transfers) {
  for (const Transfer& transfer : transfers) {
    CheckAlike(transfer.tensor, transfer.tensor);
    TORCH_CHECK(transfer.peer >= 0 && transfer.peer < size() && transfer.peer != rank_,
                "the peer of a transfer must be a different member of the group");
  }
  return Record({.kind = Operation::Kind::kExchange, .transfers = std::move(transfers)});
}

Work Communicator::Then(std::function<void()> work) {
  return Record({.kind = Operation::Kind::kLocal, .local = std::move(work)});
}

void Communicator::Barrier() {
  AllReduce(torch::zeros({1}, torch::dtype(torch::kInt32).device(device()))).WaitOnHost();
}

Work Communicator::Record(Operation operation) {
  const uint64_t sequence = flight_.Queue(operation);
  return Counted(Begin(std::move(operation), sequence));
}

Work Communicator::Counted(Work work) const {
  work.CountWaits(clock_, part_);
  return work;
}

void Communicator::CountWaits(StepClock& clock, StepPart part) {
  clock_ = &clock;
  part_ = part;
}

int64_t CommunicatorGroup::Position() const {
  return std::find(ranks.begin(), ranks.end(), my_rank) - ranks.begin();
}

std::unique_ptr<Communicator> MakeSingleProcessCommunicator(torch::Device device) {
  return std::make_unique<SingleProcessCommunicator>(device);
}

std::unique_ptr<Communicator> ConnectGroup(Rendezvous* rendezvous, const CommunicatorGroup& group,
                                           torch::Device device) {
  if (group.ranks.size() == 1) return MakeSingleProcessCommunicator(device);
  if (rendezvous == nullptr) {
    throw TrainerError(ExitCode::kInternal, "Group " + group.name + " has no rendezvous.");
  }
  return ConnectBackend(*rendezvous, group, device);
}

std::vector<double> SumOverMembers(Communicator& communicator, const std::vector<double>& values,
                                   torch::Device device) {
  if (communicator.size() == 1) return values;
  const auto number = static_cast<double>(communicator.CountSum());
  std::vector<double> sums = values;
  sums.push_back(number);
  const Tensor tensor = torch::tensor(sums, torch::kFloat64).to(device);
  communicator.AllReduce(tensor).WaitOnHost();
  const Tensor host = tensor.cpu();
  sums.assign(host.data_ptr<double>(), host.data_ptr<double>() + host.numel());
  // CheckPresence (trainer/step/step_runner.cpp) makes the same check for the sums of a step.
  if (sums.back() != number * static_cast<double>(communicator.size())) {
    throw TrainerError(ExitCode::kPeerLost, "Lost a peer in a sum of group " + communicator.name() +
                                                ": a rank has left the gang.");
  }
  sums.pop_back();
  return sums;
}

}  // namespace trainyard::trainer
