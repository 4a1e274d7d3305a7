// Communication between GPUs through direct calls of NCCL.
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/device/cuda_event.h"
#include "trainer/parallel/interruption/operation_watch.h"
#include "trainer/parallel/nccl_support.h"
#include "trainer/parallel/peer_exchange.h"
#include "trainer/parallel/rendezvous.h"
#include "trainer/parallel/stream_counters.h"
#include "trainer/threads/run_within.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using torch::Tensor;

// The duration for which a wait spins before it sleeps. NCCL queues an operation in some tens of
// microseconds; a sleep takes longer.
constexpr std::chrono::microseconds kBusyWait{200};
constexpr std::chrono::microseconds kPollInterval{20};

// Time limit of an abort. The kernels of the group end within milliseconds. Then NCCL frees memory
// and joins threads, both without a time limit.
constexpr std::chrono::seconds kAbortLimit{10};

// After the loss of a peer, the training thread has this much time beyond the operation's limit to
// notice the loss. Then OperationWatch ends the process.
constexpr std::chrono::seconds kWatchMargin{30};

void Pause(Clock::time_point start) {
  if (Clock::now() - start < kBusyWait) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(kPollInterval);
  }
}

// Uses a non-blocking NCCL communicator, whose functions return immediately. When the group
// connects, and in the first operation, which opens further connections, NCCL needs the other
// members and continues the work on its own thread. Until that thread has finished, no other
// function may be called, and the called function may not have queued its work on the stream yet.
// Finish waits for the thread.
//
// All operations run on the group's stream.
class NcclCommunicator final : public Communicator {
 public:
  // `interruption`, which may be null, aborts this group and the rank's other groups together.
  NcclCommunicator(const CommunicatorGroup& group, torch::Device device, Interruption* interruption)
      : Communicator(group),
        limits_(group.limits),
        has_transfers_(group.has_transfers),
        copied_bytes_(group.copied_bytes),
        device_(device),
        interruption_(interruption),
        stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device.index())),
        watch_(counters_.counters(), flight_, group.name, group.limits.operation + kWatchMargin) {
    if (interruption != nullptr) listener_ = interruption->Listen([this] { Abort(); });
  }

  ~NcclCommunicator() override {
    listener_.reset();
    Abort();
  }

  // Begins to connect. NCCL connects on its own thread, so several groups connect at the same time.
  void Connect(const ncclUniqueId& id) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    operation_ = "connect";
    const std::lock_guard<std::mutex> lock(handle_mutex_);
    CheckUsable("connect");
    connecting_ = ncclCommInitRankConfig(handle_.get(), static_cast<int>(size()), id,
                                         static_cast<int>(rank()), &config);
  }

  void Open() override {
    if (!connecting_.has_value()) return;
    const ncclResult_t result = *std::exchange(connecting_, std::nullopt);
    Finish(result, limits_.connect);
    OpenTransfers();
    OpenCopies();
  }

  Tensor EmptyForGather(at::IntArrayRef shape, const torch::TensorOptions& options) override {
    const Tensor in_slot = exchange_ == nullptr ? Tensor() : exchange_->EmptyInSlot(shape, options);
    return in_slot.defined() ? in_slot : Communicator::EmptyForGather(shape, options);
  }

  std::string Transport() const override {
    if (copied_bytes_ == 0) return "";
    return exchange_ != nullptr ? "copies between the GPUs" : "NCCL, because " + why_no_copies_;
  }

  // Polls, because a blocking wait for the stream would never return if a peer is lost. The time
  // limit applies to each operation. Work of this rank before an operation may take any time.
  void WaitUntil(const std::function<bool()>& done) override {
    const Clock::time_point start = Clock::now();
    while (!done()) {
      const ncclResult_t state = State();
      if (state != ncclSuccess && state != ncclInProgress) Fail(state);
      if (watch_.RunningFor() > limits_.operation) {
        operation_ += " or an operation before it";  // An earlier operation may still be running.
        LoseAfter(limits_.operation);
      }
      Pause(start);
    }
    // An aborted operation also looks like a completed one.
    CheckUsable(operation_.c_str());
  }

  void Abort() override {
    std::string problem = End();
    const std::lock_guard<std::mutex> lock(handle_mutex_);
    if (!problem.empty()) abort_problem_ = std::move(problem);
  }

 private:
  // Completion of an operation on the group's stream.
  class Completion : public Work::Completion {
   public:
    Completion(NcclCommunicator& group, Operation operation)
        : group_(group), operation_(std::move(operation)) {
      done_.Record(group.stream_.stream());
    }
    void Wait() override { done_.Block(CurrentStream()); }
    void WaitOnHost() override {
      group_.WaitUntil([this] { return done_.IsReached(); });
    }
    bool IsDone() override { return done_.IsReached(); }

   protected:
    NcclCommunicator& group_;
    Operation operation_;  // Keeps the tensors alive.
    CudaEvent done_;
  };

  // Completion of an all-gather by copies, whose parts arrive one by one.
  class GatherCompletion final : public Completion {
   public:
    GatherCompletion(NcclCommunicator& group, Operation operation, std::vector<CudaEvent> arrived)
        : Completion(group, std::move(operation)), arrived_(std::move(arrived)) {}
    void Wait() override {
      Completion::Wait();
      OwnPart().Block(CurrentStream());
    }
    void WaitOnHost() override {
      group_.WaitUntil([this] { return IsDone(); });
    }
    bool IsDone() override { return done_.IsReached() && OwnPart().IsReached(); }
    bool WaitForPart(int64_t member) override {
      arrived_[member].Block(CurrentStream());
      return true;
    }

   private:
    const CudaEvent& OwnPart() const { return arrived_[group_.rank()]; }

    const std::vector<CudaEvent> arrived_;  // By member.
  };

  // Completion of a reduce-scatter by copies. The waiting stream adds the parts.
  class SumCompletion final : public Completion {
   public:
    SumCompletion(NcclCommunicator& group, Operation operation, PeerExchange::Slot slot)
        : Completion(group, std::move(operation)), slot_(std::move(slot)) {}
    // Adds in fp32 and rounds once.
    void Wait() override { at::sum_out(operation_.output, at::stack(WaitForSummands()), {0}); }
    std::vector<Tensor> WaitForSummands() override {
      Completion::Wait();
      return group_.exchange_->Summands(slot_, operation_);
    }
    void WaitOnHost() override {
      Wait();
      CudaEvent added;
      added.Record(CurrentStream());
      group_.WaitUntil([&added] { return added.IsReached(); });
    }

   private:
    const PeerExchange::Slot slot_;
  };

  // Opens all connections between two members. Without this call, NCCL would open some connections
  // at the first transfer and more at the first large transfer, and block the host until the other
  // member takes part. Neighboring pipeline stages both begin to receive before either sends, so
  // they would block each other.
  void OpenTransfers() {
    if (!has_transfers_ || size() != 2) return;
    constexpr int64_t kLargeBytes = int64_t{64} << 20;  // Uses every channel.
    const auto bytes = torch::dtype(torch::kUInt8).device(device_);
    const Tensor sent = torch::empty({kLargeBytes}, bytes), received = torch::empty_like(sent);
    const int64_t peer = 1 - rank();
    Exchange(
        {{Transfer::Direction::kSend, peer, sent}, {Transfer::Direction::kReceive, peer, received}})
        .WaitOnHost();
  }

  // Connects the devices of the members for copies, if there is peer access.
  void OpenCopies() {
    if (copied_bytes_ == 0) return;
    auto exchange = PeerExchange::Connect(*this, stream_, copied_bytes_, why_no_copies_);
    const std::lock_guard<std::mutex> lock(exchange_mutex_);
    exchange_ = std::move(exchange);
  }

  static cudaStream_t CurrentStream() { return c10::cuda::getCurrentCUDAStream().stream(); }

  Work Begin(Operation operation, uint64_t sequence) override {
    Open();
    CheckUsable(NameOf(operation.kind));
    operation_ = NameOf(operation.kind);
    if (operation.kind == Operation::Kind::kReduceScatter) {
      const auto order = PiecesInSendOrder(size(), rank(), operation.input.size(0), 1);
      if (Work sum; BeginSumByCopies(operation, sequence, order, {}, sum)) return sum;
    }
    const bool copies = exchange_ != nullptr && operation.kind == Operation::Kind::kAllGather &&
                        exchange_->IsInSlot(operation.output);
    std::vector<CudaEvent> arrived(copies ? size() : 0);
    Enter(sequence);
    if (operation.local) {
      const c10::cuda::CUDAStreamGuard beside(stream_);
      operation.local();
    } else if (copies) {
      exchange_->Gather(operation, arrived);
    } else {
      Finish(StartUnlessAborted(operation), limits_.operation);
    }
    Leave(sequence);
    if (!copies) return Work(std::make_shared<Completion>(*this, std::move(operation)));
    return Work(
        std::make_shared<GatherCompletion>(*this, std::move(operation), std::move(arrived)));
  }

  Work BeginInPieces(Operation operation, uint64_t sequence, const std::vector<RowPiece>& order,
                     const ComputedInput& computed) override {
    Open();
    CheckUsable(NameOf(operation.kind));
    operation_ = NameOf(operation.kind);
    if (Work sum; BeginSumByCopies(operation, sequence, order, computed, sum)) return sum;
    return Communicator::BeginInPieces(std::move(operation), sequence, order, computed);
  }

  // Returns false, without effect, if the members cannot use copies for this reduce-scatter.
  bool BeginSumByCopies(Operation& operation, uint64_t sequence, const std::vector<RowPiece>& order,
                        const ComputedInput& computed, Work& sum) {
    if (exchange_ == nullptr) return false;
    PeerExchange::Slot slot = exchange_->TakeSlot(operation);
    if (slot == nullptr) return false;
    Enter(sequence);
    exchange_->BeginSum(slot);
    for (const RowPiece& piece : order) {
      if (computed.compute) computed.compute(piece.first, piece.count);
      if (piece.member == rank()) continue;
      FollowCaller();
      exchange_->Send(slot, operation, piece);
    }
    exchange_->EndSum(slot);
    Leave(sequence);
    sum = Work(std::make_shared<SumCompletion>(*this, std::move(operation), std::move(slot)));
    return true;
  }

  // Later work of the group waits for the work that is queued on the caller's stream so far.
  void FollowCaller() {
    ready_.Record(CurrentStream());
    ready_.Block(stream_.stream());
  }

  void Enter(uint64_t sequence) {
    FollowCaller();
    counters_.Enter(stream_.stream(), static_cast<uint32_t>(sequence));
  }

  void Leave(uint64_t sequence) {
    counters_.Leave(stream_.stream(), static_cast<uint32_t>(sequence));
  }

  torch::Device device() const override { return device_; }

  // The lock excludes a concurrent abort, which would free the communicator. Neither the start nor
  // an abort waits for members, so the lock is held briefly.
  ncclResult_t StartUnlessAborted(const Operation& operation) {
    const std::lock_guard<std::mutex> lock(handle_mutex_);
    CheckUsable(NameOf(operation.kind));
    return Start(operation);
  }

  ncclResult_t Start(const Operation& operation) {
    const cudaStream_t stream = stream_.stream();
    const Tensor& output = operation.output;
    const Tensor& input = operation.input;
    switch (operation.kind) {
      case Operation::Kind::kAllReduce:
        return ncclAllReduce(output.data_ptr(), output.data_ptr(), output.numel(), NcclType(output),
                             NcclOp(operation.reduce), *handle_, stream);
      case Operation::Kind::kAllGather:
        return ncclAllGather(input.data_ptr(), output.data_ptr(), input.nbytes(), ncclUint8,
                             *handle_, stream);
      case Operation::Kind::kReduceScatter:
        return ncclReduceScatter(input.data_ptr(), output.data_ptr(), output.numel(),
                                 NcclType(input), NcclOp(operation.reduce), *handle_, stream);
      case Operation::Kind::kBroadcast:
        return ncclBroadcast(output.data_ptr(), output.data_ptr(), output.nbytes(), ncclUint8,
                             static_cast<int>(operation.root), *handle_, stream);
      case Operation::Kind::kAllToAll:
        return StartAllToAll(operation);
      case Operation::Kind::kExchange:
        return StartTransfers(operation.transfers);
      case Operation::Kind::kLocal:
        break;
    }
    return ncclInvalidUsage;
  }

  // Uses concurrent sends and receives, because NCCL has no all-to-all with parts of unequal size.
  ncclResult_t StartAllToAll(const Operation& operation) {
    std::vector<Transfer> transfers;
    int64_t from = 0, to = 0;
    for (int64_t member = 0; member < size(); ++member) {
      const int64_t sent = operation.input_rows[member], got = operation.output_rows[member];
      Tensor input = operation.input.narrow(0, from, sent);
      Tensor output = operation.output.narrow(0, to, got);
      transfers.push_back({Transfer::Direction::kSend, member, std::move(input)});
      transfers.push_back({Transfer::Direction::kReceive, member, std::move(output)});
      from += sent;
      to += got;
    }
    return StartTransfers(transfers);
  }

  ncclResult_t StartTransfers(const std::vector<Transfer>& transfers) {
    CheckNccl("ncclGroupStart", ncclGroupStart());
    ncclResult_t result = ncclSuccess;
    for (const Transfer& transfer : transfers) {
      if (transfer.tensor.numel() == 0) continue;
      const ncclResult_t started = StartTransfer(transfer);
      if (started != ncclSuccess && started != ncclInProgress) result = started;
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
  }

  ncclResult_t StartTransfer(const Transfer& transfer) {
    const Tensor& tensor = transfer.tensor;
    const auto peer = static_cast<int>(transfer.peer);
    return transfer.direction == Transfer::Direction::kSend
               ? ncclSend(tensor.data_ptr(), tensor.nbytes(), ncclUint8, peer, *handle_,
                          stream_.stream())
               : ncclRecv(tensor.data_ptr(), tensor.nbytes(), ncclUint8, peer, *handle_,
                          stream_.stream());
  }

  // Waits until NCCL has finished a call that returned `result`.
  void Finish(ncclResult_t result, std::chrono::seconds limit) {
    const Clock::time_point start = Clock::now();
    while (result == ncclInProgress) {
      if (Clock::now() - start > limit) LoseAfter(limit);
      Pause(start);
      result = State();
    }
    if (result != ncclSuccess) Fail(result);
  }

  ncclResult_t State() {
    const std::lock_guard<std::mutex> lock(handle_mutex_);
    CheckUsable(operation_.c_str());
    ncclResult_t state = ncclSuccess;
    CheckNccl("ncclCommGetAsyncError", ncclCommGetAsyncError(*handle_, &state));
    return state;
  }

  [[noreturn]] void LoseAfter(std::chrono::seconds limit) {
    Lose("no answer within " + SecondsText(limit) + ".");
  }

  void CheckUsable(const char* operation) const {
    if (!aborted_) return;
    throw TrainerError(ExitCode::kPeerLost, std::string("Lost a peer before ") + operation +
                                                " of group " + name() + ".");
  }

  [[noreturn]] void Fail(ncclResult_t result) {
    const std::string text = NcclText(result);
    if (!IsOwnFault(result)) Lose(text + ".");
    AbortAllGroups();
    throw TrainerError(ExitCode::kInternal,
                       "NCCL failed in " + operation_ + " of group " + name() + ": " + text + ".");
  }

  // Aborts before it throws. Otherwise, an error handler that frees memory would wait for the
  // device, which waits for the lost peer.
  [[noreturn]] void Lose(const std::string& reason) {
    const std::string problem = AbortAllGroups();
    throw TrainerError(ExitCode::kPeerLost, "Lost a peer in " + operation_ + " of group " + name() +
                                                ": " + reason +
                                                (problem.empty() ? "" : " " + problem));
  }

  // Aborts all groups of this rank together, because NCCL frees memory in an abort, and CUDA frees
  // memory only when the kernels of all groups have ended. Returns like End.
  std::string AbortAllGroups() {
    if (interruption_ != nullptr) interruption_->Interrupt();
    std::string problem = End();
    const std::lock_guard<std::mutex> lock(handle_mutex_);
    return problem.empty() ? abort_problem_ : problem;
  }

  // Ends the kernels of the group on this device and frees the group's memory. Never waits for a
  // peer. Returns an error message, or "" on success.
  std::string End() noexcept {
    ReleaseCopies();
    {
      const std::lock_guard<std::mutex> lock(handle_mutex_);
      if (aborted_.exchange(true)) return "";
    }
    watch_.Stop();
    try {
      const auto end = [handle = handle_, device = device_.index()] {
        if (*handle == nullptr) return;
        CheckCuda("cudaSetDevice", cudaSetDevice(device));
        CheckNccl("ncclCommAbort", ncclCommAbort(*handle));
      };
      if (RunWithin(kAbortLimit, end)) return "";
      return "ncclCommAbort has not returned within " + SecondsText(kAbortLimit) + ".";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  // Takes no lock that a call of CUDA or NCCL may hold. Such a call may last until the waits end.
  void ReleaseCopies() noexcept {
    const std::lock_guard<std::mutex> lock(exchange_mutex_);
    if (exchange_ != nullptr) exchange_->Release();
  }

  const PeerLimits limits_;
  const bool has_transfers_;
  const int64_t copied_bytes_;
  const torch::Device device_;
  Interruption* const interruption_;
  const c10::cuda::CUDAStream stream_;
  // Shared with an abort that may still be running. NCCL's threads also write to this handle.
  const std::shared_ptr<ncclComm_t> handle_ = std::make_shared<ncclComm_t>(nullptr);
  std::mutex handle_mutex_;    // Held in calls that must not overlap an abort.
  std::string abort_problem_;  // From an abort on another thread; guarded by handle_mutex_.
  std::atomic<bool> aborted_{false};
  std::optional<ncclResult_t> connecting_;  // Result of Connect; empty when the group is open.
  std::string operation_;                   // Name of the latest operation, for error messages.
  CudaEvent ready_;  // Marks the end of the work before the latest operation.
  StreamCounters counters_;
  OperationWatch watch_;
  std::mutex exchange_mutex_;               // Guards changes of exchange_.
  std::unique_ptr<PeerExchange> exchange_;  // Null if the group only uses NCCL.
  std::string why_no_copies_;
  std::unique_ptr<Interruption::Listener> listener_;
};

}  // namespace

std::unique_ptr<Communicator> ConnectBackend(Rendezvous& rendezvous, const CommunicatorGroup& group,
                                             torch::Device device) {
  if (!device.is_cuda()) {
    throw TrainerError(ExitCode::kBadConfig,
                       "This trainer was built for GPUs and can run several ranks only on GPUs; "
                       "set resources.device to gpu, or use one rank.");
  }
  CommunicatorGroup limited = group;
  limited.limits.connect = std::min(group.limits.connect, rendezvous.timeout());
  auto communicator =
      std::make_unique<NcclCommunicator>(limited, device, rendezvous.interruption());
  communicator->Connect(ShareUniqueId(rendezvous, limited));
  return communicator;
}

}  // namespace trainyard::trainer
