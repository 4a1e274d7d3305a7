// Collectives between GPUs by NCCL directly: operations are queued on the current CUDA stream.
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr std::chrono::seconds kOperationTimeout{600};
constexpr std::chrono::microseconds kPollInterval{20};

[[noreturn]] void ThrowPeerLost(const std::string& operation, const std::string& group,
                                const std::string& reason) {
  throw TrainerError(ExitCode::kPeerLost,
                     "Lost a peer in " + operation + " of group " + group + ": " + reason);
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

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::string name, ncclComm_t handle, int64_t rank, int64_t size)
      : name_(std::move(name)), handle_(handle), rank_(rank), size_(size) {
    cudaEventCreateWithFlags(&done_, cudaEventDisableTiming);
  }

  // Aborting never waits for a peer; nothing is in flight after an orderly end.
  ~NcclCommunicator() override {
    ncclCommAbort(handle_);
    cudaEventDestroy(done_);
  }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }

  void AllReduce(Tensor& tensor, ReduceOp op) override {
    const ncclRedOp_t nccl_op = op == ReduceOp::kSum ? ncclSum : ncclMax;
    Check("all-reduce", ncclAllReduce(tensor.data_ptr(), tensor.data_ptr(), tensor.numel(),
                                      NcclType(tensor), nccl_op, handle_, Stream()));
  }

  void AllGather(Tensor& output, const Tensor& input) override {
    Check("all-gather", ncclAllGather(input.data_ptr(), output.data_ptr(), input.numel(),
                                      NcclType(input), handle_, Stream()));
  }

  void ReduceScatter(Tensor& output, const Tensor& input) override {
    Check("reduce-scatter", ncclReduceScatter(input.data_ptr(), output.data_ptr(), output.numel(),
                                              NcclType(input), ncclSum, handle_, Stream()));
  }

  void Broadcast(Tensor& tensor, int64_t root) override {
    Check("broadcast", ncclBroadcast(tensor.data_ptr(), tensor.data_ptr(), tensor.numel(),
                                     NcclType(tensor), static_cast<int>(root), handle_, Stream()));
  }

  void Barrier() override {
    Tensor token = torch::zeros({1}, torch::TensorOptions()
                                         .dtype(torch::kInt32)
                                         .device(torch::kCUDA, c10::cuda::current_device()));
    AllReduce(token, ReduceOp::kSum);
    operation_ = "barrier";
    Wait();
  }

  void Wait() override {
    cudaEventRecord(done_, Stream());
    WaitUntil([this] {
      const cudaError_t state = cudaEventQuery(done_);
      if (state == cudaSuccess) return true;
      if (state == cudaErrorNotReady) return false;
      throw TrainerError(ExitCode::kInternal,
                         std::string("CUDA failed: ") + cudaGetErrorString(state) + ".");
    });
  }

  // Polls, because a plain wait for the stream would hang for ever behind a lost peer.
  void WaitUntil(const std::function<bool()>& done) override {
    const auto deadline = std::chrono::steady_clock::now() + kOperationTimeout;
    while (!done()) {
      ncclResult_t asynchronous = ncclSuccess;
      ncclCommGetAsyncError(handle_, &asynchronous);
      Check(operation_, asynchronous);
      if (std::chrono::steady_clock::now() > deadline) {
        ThrowPeerLost(operation_, name_,
                      "no answer within " + std::to_string(kOperationTimeout.count()) + " s.");
      }
      std::this_thread::sleep_for(kPollInterval);
    }
  }

 private:
  static cudaStream_t Stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

  void Check(const std::string& operation, ncclResult_t result) {
    operation_ = operation;
    if (result != ncclSuccess && result != ncclInProgress) {
      ThrowPeerLost(operation, name_, ncclGetErrorString(result));
    }
  }

  std::string name_;
  ncclComm_t handle_;
  int64_t rank_;
  int64_t size_;
  cudaEvent_t done_ = nullptr;
  std::string operation_ = "connect";  // The newest, for error messages.
};

// The first member makes the id of the group; all other members read it from the store.
ncclUniqueId ShareUniqueId(c10d::Store& store, bool first) {
  ncclUniqueId id;
  if (first) {
    ncclGetUniqueId(&id);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&id);
    store.set("nccl_id", std::vector<uint8_t>(bytes, bytes + sizeof(id)));
  } else {
    const std::vector<uint8_t> bytes = store.get("nccl_id");
    std::memcpy(&id, bytes.data(), std::min(bytes.size(), sizeof(id)));
  }
  return id;
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
  const auto size = static_cast<int>(group.ranks.size());
  ncclComm_t handle = nullptr;
  try {
    const ncclUniqueId id = ShareUniqueId(*rendezvous.StoreOf(group.name), rank == 0);
    const ncclResult_t result = ncclCommInitRank(&handle, size, id, rank);
    if (result != ncclSuccess) ThrowPeerLost("connect", group.name, ncclGetErrorString(result));
  } catch (const c10::Error& error) {
    ThrowPeerLost("connect", group.name, error.what_without_backtrace());
  }
  return std::make_unique<NcclCommunicator>(group.name, handle, rank, size);
}

}  // namespace trainyard::trainer
