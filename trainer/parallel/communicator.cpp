#include "trainer/parallel/communicator.h"

#include <chrono>
#include <thread>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

class SingleProcessCommunicator final : public Communicator {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  void AllReduce(torch::Tensor&, ReduceOp) override {}
  void AllGather(torch::Tensor& output, const torch::Tensor& input) override {
    output.copy_(input);
  }
  void ReduceScatter(torch::Tensor& output, const torch::Tensor& input) override {
    output.copy_(input);
  }
  void Broadcast(torch::Tensor&, int64_t) override {}
  void Barrier() override {}
  void Wait() override {}
  void WaitUntil(const std::function<bool()>& done) override {
    while (!done()) std::this_thread::sleep_for(kPollInterval);
  }

 private:
  static constexpr std::chrono::microseconds kPollInterval{20};
};

}  // namespace

std::unique_ptr<Communicator> MakeSingleProcessCommunicator() {
  return std::make_unique<SingleProcessCommunicator>();
}

std::unique_ptr<Communicator> ConnectGroup(Rendezvous* rendezvous, const CommunicatorGroup& group,
                                           torch::Device device) {
  if (group.ranks.size() == 1) return MakeSingleProcessCommunicator();
  if (rendezvous == nullptr) {
    throw TrainerError(ExitCode::kInternal, "Group " + group.name + " has no rendezvous.");
  }
  return ConnectBackend(*rendezvous, group, device);
}

std::vector<double> SumOverMembers(Communicator& communicator, const std::vector<double>& values,
                                   torch::Device device) {
  if (communicator.size() == 1) return values;
  torch::Tensor tensor = torch::tensor(values, torch::kFloat64).to(device);
  communicator.AllReduce(tensor, ReduceOp::kSum);
  communicator.Wait();
  const torch::Tensor host = tensor.cpu();
  return std::vector<double>(host.data_ptr<double>(), host.data_ptr<double>() + host.numel());
}

}  // namespace trainyard::trainer
