// Collectives over TCP between CPU tensors. The device is always the CPU.
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <algorithm>
#include <functional>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(std::string name, c10::intrusive_ptr<c10d::ProcessGroupGloo> group)
      : name_(std::move(name)), group_(std::move(group)) {}

  int64_t rank() const override { return group_->getRank(); }
  int64_t size() const override { return group_->getSize(); }

  void AllReduce(Tensor& tensor, ReduceOp op) override {
    c10d::AllreduceOptions options;
    options.reduceOp = op == ReduceOp::kSum ? c10d::ReduceOp::SUM : c10d::ReduceOp::MAX;
    Run("all-reduce", [&] {
      std::vector<Tensor> tensors = {tensor};
      return group_->allreduce(tensors, options);
    });
  }

  void AllGather(Tensor& output, const Tensor& input) override {
    std::vector<std::vector<Tensor>> outputs = {output.chunk(size())};
    std::vector<Tensor> inputs = {input};
    Run("all-gather", [&] { return group_->allgather(outputs, inputs); });
  }

  // Gloo of this LibTorch has no reduce-scatter: reduce everything and keep this member's share.
  void ReduceScatter(Tensor& output, const Tensor& input) override {
    Tensor sum = input.clone();
    AllReduce(sum, ReduceOp::kSum);
    output.copy_(sum.chunk(size())[rank()]);
  }

  void Broadcast(Tensor& tensor, int64_t root) override {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    Run("broadcast", [&] {
      std::vector<Tensor> tensors = {tensor};
      return group_->broadcast(tensors, options);
    });
  }

  void Barrier() override {
    Run("barrier", [&] { return group_->barrier(); });
  }

  // Every operation has completed when it returns.
  void Wait() override {}
  void WaitUntil(const std::function<bool()>& done) override {
    TORCH_CHECK(done(), "work of this group goes on after it returned");
  }

 private:
  template <typename Start>
  void Run(const char* operation, const Start& start) {
    try {
      start()->wait();
    } catch (const std::exception& error) {
      const std::string what = error.what();
      throw TrainerError(ExitCode::kPeerLost, std::string("Lost a peer in ") + operation +
                                                  " of group " + name_ + ": " +
                                                  what.substr(0, what.find('\n')));
    }
  }

  std::string name_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Communicator> ConnectBackend(Rendezvous& rendezvous, const CommunicatorGroup& group,
                                             torch::Device) {
  const auto mine = std::find(group.ranks.begin(), group.ranks.end(), group.my_rank);
  auto options = c10d::ProcessGroupGloo::Options::create(group.limits.operation);
  try {
    options->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname(rendezvous.local_address()));
    options->threads = 1;
    auto connected = c10::make_intrusive<c10d::ProcessGroupGloo>(
        rendezvous.StoreOf(group.name), static_cast<int>(mine - group.ranks.begin()),
        static_cast<int>(group.ranks.size()), options);
    return std::make_unique<GlooCommunicator>(group.name, std::move(connected));
  } catch (const std::exception& error) {
    throw TrainerError(ExitCode::kPeerLost,
                       "Cannot connect the ranks of group " + group.name + ": " + error.what());
  }
}

}  // namespace trainyard::trainer
