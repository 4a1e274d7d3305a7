// Collectives between GPUs by NCCL directly: operations are queued on the current CUDA stream.
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

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

// NCCL queues an operation in some tens of microseconds: a wait begins without pauses, which would
// take longer.
constexpr std::chrono::microseconds kBusyWait{200};
constexpr std::chrono::microseconds kPollInterval{20};

// The kernels of the group end within milliseconds of an abort. NCCL then frees memory and joins
// threads, which has no limit of its own.
constexpr std::chrono::seconds kAbortLimit{10};

// Time for the training thread to notice a loss itself before OperationWatch ends the process.
constexpr std::chrono::seconds kWatchMargin{30};

void Pause(Clock::time_point start) {
  if (Clock::now() - start < kBusyWait) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(kPollInterval);
  }
}

std::string Seconds(std::chrono::seconds time) { return std::to_string(time.count()) + " s"; }

// "unhandled system error: Connection closed by remote peer".
std::string NcclText(ncclResult_t result) {
  const std::string detail = ncclGetLastError(nullptr);
  return ncclGetErrorString(result) + (detail.empty() ? "" : ": " + detail);
}

void CheckNccl(const char* operation, ncclResult_t result) {
  if (result == ncclSuccess) return;
  throw TrainerError(ExitCode::kInternal,
                     std::string(operation) + " failed: " + NcclText(result) + ".");
}

// True for errors of this rank's own calls and device.
bool IsOwnFault(ncclResult_t result) {
  return result == ncclInvalidArgument || result == ncclInvalidUsage ||
         result == ncclUnhandledCudaError;
}

ncclDataType_t NcclType(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kFloat32:
      return ncclFloat32;
    case torch::kFloat64:
      return ncclFloat64;
    case torch::kBFloat16:
      return ncclBfloat16;
    case torch::kInt64:
      return ncclInt64;
    case torch::kInt32:
      return ncclInt32;
    case torch::kUInt8:
      return ncclUint8;
    default:
      throw TrainerError(ExitCode::kInternal, "This tensor type cannot be communicated.");
  }
}

// NCCL's communicator is a non-blocking one: its functions return at once, also where they need the
// members (connecting, and the first operation, which opens further connections), and the work goes
// on in a thread of NCCL. Until that is done no other function may be called, and what the function
// puts on the stream may not be there yet: Finish waits for it.
class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(const CommunicatorGroup& group, int rank, torch::Device device)
      : name_(group.name),
        limits_(group.limits),
        rank_(rank),
        size_(static_cast<int>(group.ranks.size())),
        device_(device),
        watch_(counters_.counters(), group.name, group.limits.operation + kWatchMargin) {}

  ~NcclCommunicator() override { Abort(); }

  void Connect(const ncclUniqueId& id) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    operation_ = "connect";
    Finish(ncclCommInitRankConfig(handle_.get(), size_, id, rank_, &config), limits_.connect);
  }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }

  void AllReduce(Tensor& tensor, ReduceOp op) override {
    const ncclRedOp_t nccl_op = op == ReduceOp::kSum ? ncclSum : ncclMax;
    Queue("all-reduce", [&](ncclComm_t handle, cudaStream_t stream) {
      return ncclAllReduce(tensor.data_ptr(), tensor.data_ptr(), tensor.numel(), NcclType(tensor),
                           nccl_op, handle, stream);
    });
  }

  void AllGather(Tensor& output, const Tensor& input) override {
    Queue("all-gather", [&](ncclComm_t handle, cudaStream_t stream) {
      return ncclAllGather(input.data_ptr(), output.data_ptr(), input.numel(), NcclType(input),
                           handle, stream);
    });
  }

  void ReduceScatter(Tensor& output, const Tensor& input) override {
    Queue("reduce-scatter", [&](ncclComm_t handle, cudaStream_t stream) {
      return ncclReduceScatter(input.data_ptr(), output.data_ptr(), output.numel(), NcclType(input),
                               ncclSum, handle, stream);
    });
  }

  void Broadcast(Tensor& tensor, int64_t root) override {
    Queue("broadcast", [&](ncclComm_t handle, cudaStream_t stream) {
      return ncclBroadcast(tensor.data_ptr(), tensor.data_ptr(), tensor.numel(), NcclType(tensor),
                           static_cast<int>(root), handle, stream);
    });
  }

  void Barrier() override {
    Tensor token = torch::zeros({1}, torch::dtype(torch::kInt32).device(device_));
    AllReduce(token, ReduceOp::kSum);
    operation_ = "barrier";
    Wait();
  }

  void Wait() override {
    CudaEvent done;
    done.Record(Stream());
    WaitUntil([&done] { return done.IsReached(); });
  }

  // Polls, because a plain wait for the stream would hang for ever behind a lost peer. Its limit is
  // one for each operation: this rank's own work before an operation may take any time.
  void WaitUntil(const std::function<bool()>& done) override {
    const Clock::time_point start = Clock::now();
    while (!done()) {
      const ncclResult_t state = State();
      if (state != ncclSuccess && state != ncclInProgress) Fail(state);
      if (watch_.RunningFor() > limits_.operation) {
        operation_ += " or an operation before it";  // The newest is not the one that is running.
        LoseAfter(limits_.operation);
      }
      Pause(start);
    }
  }

 private:
  static cudaStream_t Stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

  // Queues an operation on the current stream. NCCL orders operations in different streams only
  // within a group call; without an order two of them would use the same buffers at a time.
  template <typename Start>
  void Queue(const char* operation, const Start& start) {
    CheckUsable(operation);
    operation_ = operation;
    const cudaStream_t stream = Stream();
    if (newest_stream_.has_value() && stream != *newest_stream_) newest_.HoldBack(stream);
    counters_.Enter(stream, ++operations_);
    Finish(start(*handle_, stream), limits_.operation);
    counters_.Leave(stream, operations_);
    newest_.Record(stream);
    newest_stream_ = stream;
  }

  // Waits until NCCL has done what a function with this result has begun.
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
    throw TrainerError(ExitCode::kPeerLost,
                       std::string("Lost a peer before ") + operation + " of group " + name_ + ".");
  }

  [[noreturn]] void Fail(ncclResult_t result) {
    const std::string text = NcclText(result);
    if (!IsOwnFault(result)) Lose(text + ".");
    Abort();
    throw TrainerError(ExitCode::kInternal,
                       "NCCL failed in " + operation_ + " of group " + name_ + ": " + text + ".");
  }

  // Aborts first: whoever handles the error may free memory, which waits for the device, and the
  // device would wait for the peer.
  [[noreturn]] void Lose(const std::string& reason) {
    const std::string problem = Abort();
    throw TrainerError(ExitCode::kPeerLost, "Lost a peer in " + operation_ + " of group " + name_ +
                                                ": " + reason +
                                                (problem.empty() ? "" : " " + problem));
  }

  // Ends the kernels of the group on this device and frees its memory. Never waits for a peer.
  // Returns what went wrong.
  std::string Abort() noexcept {
    if (std::exchange(aborted_, true)) return "";
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

  const std::string name_;
  const PeerLimits limits_;
  const int rank_;
  const int size_;
  const torch::Device device_;
  // Shared with an abort that has not returned. NCCL's threads write to it as well.
  const std::shared_ptr<ncclComm_t> handle_ = std::make_shared<ncclComm_t>(nullptr);
  bool aborted_ = false;
  std::string operation_;  // The newest, for error messages.
  CudaEvent newest_;       // After the newest operation.
  std::optional<cudaStream_t> newest_stream_;
  uint32_t operations_ = 0;  // Queued so far.
  StreamCounters counters_;
  OperationWatch watch_;
};

// The first member writes the id, all other members read it.
void PassId(c10d::Store& store, bool first, ncclUniqueId& id) {
  if (first) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&id);
    store.set("nccl_id", std::vector<uint8_t>(bytes, bytes + sizeof(id)));
    return;
  }
  const std::vector<uint8_t> bytes = store.get("nccl_id");
  std::memcpy(&id, bytes.data(), std::min(bytes.size(), sizeof(id)));
}

// The first member makes the id of the group; all other members read it from the store, which has
// no time limit of its own where the process that serves it is stopped.
ncclUniqueId ShareUniqueId(const c10::intrusive_ptr<c10d::Store>& store,
                           const CommunicatorGroup& group, bool first) {
  const auto id = std::make_shared<ncclUniqueId>();
  if (first) CheckNccl("ncclGetUniqueId", ncclGetUniqueId(id.get()));
  std::string problem = "no id within " + Seconds(group.limits.connect) + ".";
  try {
    const bool shared =
        RunWithin(group.limits.connect, [store, id, first] { PassId(*store, first, *id); });
    if (shared) return *id;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    problem = text.substr(0, text.find('\n'));  // LibTorch adds a backtrace.
  }
  throw TrainerError(ExitCode::kPeerLost,
                     "Lost a peer in connect of group " + group.name + ": " + problem);
}

}  // namespace

std::unique_ptr<Communicator> ConnectBackend(Rendezvous& rendezvous, const CommunicatorGroup& group,
                                             torch::Device device) {
  if (!device.is_cuda()) {
    throw TrainerError(ExitCode::kBadConfig,
                       "This trainer was built for GPUs and runs several ranks on GPUs only; set "
                       "resources.device to gpu or use one rank.");
  }
  const auto mine = std::find(group.ranks.begin(), group.ranks.end(), group.my_rank);
  const auto rank = static_cast<int>(mine - group.ranks.begin());
  auto communicator = std::make_unique<NcclCommunicator>(group, rank, device);
  communicator->Connect(ShareUniqueId(rendezvous.StoreOf(group.name), group, rank == 0));
  return communicator;
}

}  // namespace trainyard::trainer
