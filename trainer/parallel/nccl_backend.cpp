// Communication between GPUs through direct calls of NCCL.
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/cuda_event.h"
#include "trainer/parallel/operation_watch.h"
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

std::string Seconds(std::chrono::seconds time) { return std::to_string(time.count()) + " s"; }

// Returns the text of an error, such as "unhandled system error: Connection closed by remote peer".
std::string NcclText(ncclResult_t result) {
  const std::string detail = ncclGetLastError(nullptr);
  return ncclGetErrorString(result) + (detail.empty() ? "" : ": " + detail);
}

void CheckNccl(const char* operation, ncclResult_t result) {
  if (result == ncclSuccess) return;
  throw TrainerError(ExitCode::kInternal,
                     std::string(operation) + " failed: " + NcclText(result) + ".");
}

// True for errors caused by this rank's own calls or device, not by a peer.
bool IsOwnFault(ncclResult_t result) {
  return result == ncclInvalidArgument || result == ncclInvalidUsage ||
         result == ncclUnhandledCudaError;
}

ncclRedOp_t NcclOp(ReduceOp op) { return op == ReduceOp::kSum ? ncclSum : ncclMax; }

// Returns the NCCL type for arithmetic on the tensor. Operations without arithmetic do not use this
// type, because they send every tensor as bytes.
ncclDataType_t NcclType(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kFloat32:
      return ncclFloat32;
    case torch::kFloat64:
      return ncclFloat64;
    case torch::kBFloat16:
      return ncclBfloat16;
    case torch::kFloat16:
      return ncclFloat16;
    case torch::kInt64:
      return ncclInt64;
    case torch::kInt32:
      return ncclInt32;
    default:
      throw TrainerError(ExitCode::kInternal, std::string("Numbers of type ") +
                                                  c10::toString(tensor.scalar_type()) +
                                                  " cannot be summed across ranks.");
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
  class Completion final : public Work::Completion {
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

   private:
    NcclCommunicator& group_;
    Operation operation_;  // Keeps the tensors alive.
    CudaEvent done_;
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

  static cudaStream_t CurrentStream() { return c10::cuda::getCurrentCUDAStream().stream(); }

  Work Begin(Operation operation, uint64_t sequence) override {
    Open();
    CheckUsable(NameOf(operation.kind));
    operation_ = NameOf(operation.kind);
    const cudaStream_t stream = stream_.stream();
    ready_.Record(CurrentStream());
    ready_.Block(stream);
    const auto number = static_cast<uint32_t>(sequence);
    counters_.Enter(stream, number);
    if (operation.local) {
      const c10::cuda::CUDAStreamGuard beside(stream_);
      operation.local();
    } else {
      Finish(StartUnlessAborted(operation), limits_.operation);
    }
    counters_.Leave(stream, number);
    return Work(std::make_shared<Completion>(*this, std::move(operation)));
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
    Lose("no answer within " + Seconds(limit) + ".");
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
      return "ncclCommAbort has not returned within " + Seconds(kAbortLimit) + ".";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  const PeerLimits limits_;
  const bool has_transfers_;
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
  std::unique_ptr<Interruption::Listener> listener_;
};

// Passes the id from the first member to the others through the store: the first member writes it,
// the others read it.
void PassId(c10d::Store& store, bool first, ncclUniqueId& id) {
  if (first) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&id);
    store.set("nccl_id", std::vector<uint8_t>(bytes, bytes + sizeof(id)));
    return;
  }
  const std::vector<uint8_t> bytes = store.get("nccl_id");
  if (bytes.size() != sizeof(id)) {
    throw std::runtime_error("the NCCL id has " + std::to_string(bytes.size()) +
                             " bytes instead of " + std::to_string(sizeof(id)) +
                             "; check that all nodes have the same version of NCCL");
  }
  std::memcpy(&id, bytes.data(), sizeof(id));
}

// Creates the group's id on the first member and passes it to the others through the store.
// Enforces a time limit, because the store has no limit of its own if the process that serves it is
// suspended.
ncclUniqueId ShareUniqueId(const c10::intrusive_ptr<c10d::Store>& store,
                           const CommunicatorGroup& group, bool first) {
  const auto id = std::make_shared<ncclUniqueId>();
  if (first) CheckNccl("ncclGetUniqueId", ncclGetUniqueId(id.get()));
  std::string problem = "no NCCL id arrived within " + Seconds(group.limits.connect) + ".";
  try {
    const bool shared =
        RunWithin(group.limits.connect, [store, id, first] { PassId(*store, first, *id); });
    if (shared) return *id;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    problem = text.substr(0, text.find('\n'));  // Removes the backtrace that LibTorch appends.
  }
  throw TrainerError(ExitCode::kPeerLost,
                     "Lost a peer in connect of group " + group.name + ": " + problem);
}

}  // namespace

// A group of this process alone loads NCCL's kernels and finds the host's topology.
void WarmCommunication(torch::Device device) {
  CheckCuda("cudaSetDevice", cudaSetDevice(device.index()));
  ncclUniqueId id;
  CheckNccl("ncclGetUniqueId", ncclGetUniqueId(&id));
  ncclComm_t alone = nullptr;
  CheckNccl("ncclCommInitRank", ncclCommInitRank(&alone, 1, id, 0));
  CheckNccl("ncclCommDestroy", ncclCommDestroy(alone));
}

std::string CommunicationLibrary() {
  int version = 0;
  CheckNccl("ncclGetVersion", ncclGetVersion(&version));
  // Since NCCL 2.9, the version number is 10000 * major + 100 * minor + patch.
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

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
  communicator->Connect(
      ShareUniqueId(rendezvous.StoreOf(group.name), limited, group.Position() == 0));
  return communicator;
}

}  // namespace trainyard::trainer
