// Communication of CPU tensors over TCP.
#include <gloo/context.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/interruption/interruptible_wait.h"
#include "trainer/parallel/rendezvous.h"
#include "trainer/threads/task_thread.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// LibTorch's Gloo process group, with an added Close, which ends all waits for members.
class ClosableGloo final : public c10d::ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;

  void Close() {
    for (const auto& context : contexts_) context->closeConnections();
  }

  // Releases the store, so that it may be closed. Must be called after all members have connected.
  void DropStore() { store_.reset(); }

  // Sets the time limit of the operations that follow.
  void SetLimit(std::chrono::seconds limit) {
    for (const auto& context : contexts_) context->setTimeout(limit);
  }
};

c10::intrusive_ptr<ClosableGloo> ConnectGloo(Rendezvous& rendezvous,
                                             const CommunicatorGroup& group) {
  auto options =
      c10d::ProcessGroupGloo::Options::create(std::min(group.limits.connect, rendezvous.timeout()));
  try {
    options->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname(rendezvous.local_address()));
    options->threads = 1;
    auto gloo = c10::make_intrusive<ClosableGloo>(rendezvous.StoreOf(group.name),
                                                  static_cast<int>(group.Position()),
                                                  static_cast<int>(group.ranks.size()), options);
    gloo->DropStore();
    gloo->SetLimit(group.limits.operation);
    return gloo;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    throw TrainerError(ExitCode::kPeerLost, "Cannot connect the ranks of group " + group.name +
                                                ": " + text.substr(0, text.find('\n')));
  }
}

// Runs the operations in order, on a separate thread.
class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(const CommunicatorGroup& group, c10::intrusive_ptr<ClosableGloo> gloo,
                   Interruption* interruption)
      : Communicator(group), gloo_(std::move(gloo)) {
    if (interruption != nullptr) listener_ = interruption->Listen([this] { Abort(); });
  }

  ~GlooCommunicator() override {
    listener_.reset();
    if (unfinished_ > 0) Abort();
    thread_.reset();
    // A thread of Gloo still waits in the abandoned operation, until the group's time limit.
    // Because this thread uses the group, the group is deliberately leaked.
    if (was_left_) static_cast<void>(gloo_.release());
  }

  // On a CPU, a completed Work has no work left on a device, so done() must already be true.
  void WaitUntil(const std::function<bool()>& done) override {
    TORCH_CHECK(done(), "a Gloo operation returned before it was complete");
  }

  void Abort() override {
    if (aborted_.exchange(true)) return;
    gloo_->Close();
    const std::lock_guard<std::mutex> lock(transfers_mutex_);
    for (const auto& transfer : transfers_) transfer->abort();
  }

 private:
  class Completion final : public Work::Completion {
   public:
    explicit Completion(std::future<void> done) : done_(std::move(done)) {}
    void Wait() override { done_.get(); }
    void WaitOnHost() override { done_.get(); }
    bool IsDone() override {
      return done_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }

   private:
    std::future<void> done_;
  };

  Work Begin(Operation operation, uint64_t sequence) override {
    ++unfinished_;
    return Work(std::make_shared<Completion>(
        thread_->Add([this, operation = std::move(operation), sequence] {
          const torch::NoGradGuard no_grad;
          flight_.Enter(sequence);
          Try(operation);
          flight_.Leave(sequence);
          --unfinished_;
        })));
  }

  torch::Device device() const override { return torch::kCPU; }

  void Try(const Operation& operation) {
    const std::string name = NameOf(operation.kind);
    if (aborted_) ThrowLost("before " + name, "the group was aborted");
    if (operation.local) return operation.local();
    try {
      Run(operation);
    } catch (const std::exception& error) {
      aborted_ = true;
      const std::string text = error.what();
      ThrowLost("in " + name, text.substr(0, text.find('\n')));
    }
  }

  [[noreturn]] void ThrowLost(const std::string& where, const std::string& why) const {
    throw TrainerError(ExitCode::kPeerLost,
                       "Lost a peer " + where + " of group " + name() + ": " + why);
  }

  void Run(const Operation& operation) {
    Tensor output = operation.output;
    switch (operation.kind) {
      case Operation::Kind::kAllReduce:
        return AllReduceWide(output, operation.reduce);
      case Operation::Kind::kAllGather:
        return Gather(output, operation.input);
      case Operation::Kind::kReduceScatter: {
        // The Gloo of this LibTorch version has no reduce-scatter.
        Tensor whole = operation.input.clone();
        AllReduceWide(whole, operation.reduce);
        output.copy_(whole.flatten().chunk(size())[rank()].view_as(output));
        return;
      }
      case Operation::Kind::kAllToAll: {
        Tensor input = operation.input;
        std::vector<int64_t> from = operation.output_rows, to = operation.input_rows;
        return Await(gloo_->alltoall_base(output, input, from, to));
      }
      case Operation::Kind::kBroadcast: {
        c10d::BroadcastOptions options;
        options.rootRank = operation.root;
        std::vector<Tensor> tensors = {BytesIfNarrow(output)};
        return Await(gloo_->broadcast(tensors, options));
      }
      case Operation::Kind::kExchange:
        return Transact(operation.transfers);
      case Operation::Kind::kLocal:
        return;
    }
  }

  // Converts the tensor to fp32, adds, and rounds once, because Gloo would round 16-bit numbers
  // after every addition.
  void AllReduceWide(Tensor& tensor, ReduceOp op) {
    const bool is_narrow =
        tensor.scalar_type() == torch::kBFloat16 || tensor.scalar_type() == torch::kFloat16;
    Tensor wide = is_narrow ? tensor.to(torch::kFloat32) : tensor;
    c10d::AllreduceOptions options;
    options.reduceOp = op == ReduceOp::kSum ? c10d::ReduceOp::SUM : c10d::ReduceOp::MAX;
    std::vector<Tensor> tensors = {wide};
    Await(gloo_->allreduce(tensors, options));
    if (is_narrow) tensor.copy_(wide);
  }

  void Gather(const Tensor& output, const Tensor& input) {
    const Tensor flat = input.flatten();
    std::vector<std::vector<Tensor>> outputs = {output.flatten().chunk(size())};
    std::vector<Tensor> inputs = {BytesIfNarrow(flat)};
    for (Tensor& part : outputs.front()) part = BytesIfNarrow(part);
    Await(gloo_->allgather(outputs, inputs));
  }

  // Gloo does not support bf16 and 16-bit integers. Operations without arithmetic therefore treat
  // such tensors as bytes.
  static Tensor BytesIfNarrow(const Tensor& tensor) {
    return tensor.element_size() == 2 ? tensor.view(torch::kUInt8) : tensor;
  }

  using Pending = c10::intrusive_ptr<c10d::Work>;

  void Await(const Pending& work) {
    if (WaitUnlessAborted(*work, aborted_)) return;
    was_left_ = true;
    throw std::runtime_error("the group was aborted");
  }

  void Transact(const std::vector<Transfer>& transfers) {
    constexpr int kTag = 0;  // One tag suffices, because transfers match in order.
    {
      const std::lock_guard<std::mutex> lock(transfers_mutex_);
      for (const Transfer& transfer : transfers) {
        std::vector<Tensor> tensors = {BytesIfNarrow(transfer.tensor)};
        const auto peer = static_cast<int>(transfer.peer);
        transfers_.push_back(transfer.direction == Transfer::Direction::kSend
                                 ? gloo_->send(tensors, peer, kTag)
                                 : gloo_->recv(tensors, peer, kTag));
        if (aborted_) throw std::runtime_error("the group was aborted");
      }
    }
    for (const Pending& transfer : transfers_) {
      if (!transfer->wait()) throw std::runtime_error("the group was aborted");
    }
    const std::lock_guard<std::mutex> lock(transfers_mutex_);
    transfers_.clear();
  }

  c10::intrusive_ptr<ClosableGloo> gloo_;
  std::atomic<bool> aborted_{false};
  bool was_left_ = false;  // True if an operation was abandoned.
  std::mutex transfers_mutex_;
  std::vector<Pending> transfers_;      // Transfers of the running exchange.
  std::atomic<int64_t> unfinished_{0};  // Number of operations; never 0 after a failure.
  std::unique_ptr<Interruption::Listener> listener_;
  // Must be the last member, so that it is destroyed first: its thread uses all other members.
  std::unique_ptr<TaskThread> thread_ = std::make_unique<TaskThread>();
};

}  // namespace

// Gloo is a part of LibTorch and has no version number.
void WarmCommunication(torch::Device) {}  // Gloo has nothing to load.

std::string CommunicationLibrary() { return "Gloo"; }

std::unique_ptr<Communicator> ConnectBackend(Rendezvous& rendezvous, const CommunicatorGroup& group,
                                             torch::Device) {
  return std::make_unique<GlooCommunicator>(group, ConnectGloo(rendezvous, group),
                                            rendezvous.interruption());
}

}  // namespace trainyard::trainer
