// Copies from a GPU in a build with CUDA.
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "trainer/checkpoint/copy_queue.h"
#include "trainer/checkpoint/host_memory.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Memory that staging leaves free for training: what libraries allocate late, and growth of
// LibTorch's memory by fragments. A 32nd of the device's memory, but at least this much.
constexpr int64_t kMinSpareBytes = int64_t{2} << 30;

// A third of the time for 16 MiB at 55 GB/s, which is the speed of PCIe 5.
constexpr std::chrono::microseconds kPollInterval{100};

void Check(const char* operation, cudaError_t result) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // Clears the error; otherwise a later, unrelated check reports it.
  throw TrainerError(ExitCode::kInternal, std::string("checkpoint: ") + operation +
                                              " failed: " + cudaGetErrorString(result) + ".");
}

class TimedEvent {
 public:
  TimedEvent() { Check("cudaEventCreate", cudaEventCreate(&event_)); }
  // Ignores errors, because a destructor cannot report them.
  ~TimedEvent() { static_cast<void>(cudaEventDestroy(event_)); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;

  void Record(cudaStream_t stream) {
    Check("cudaEventRecord", cudaEventRecord(event_, stream));
    is_recorded_ = true;
  }
  void Block(cudaStream_t stream) const {
    Check("cudaStreamWaitEvent", cudaStreamWaitEvent(stream, event_, 0));
  }
  bool IsReached() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state != cudaErrorNotReady) Check("cudaEventQuery", state);
    if (state == cudaErrorNotReady) cudaGetLastError();
    return state == cudaSuccess;
  }
  // Seconds from `earlier` to this event; 0 if they are unknown.
  double SecondsSince(const TimedEvent& earlier) const {
    if (!is_recorded_ || !earlier.is_recorded_ || !IsReached() || !earlier.IsReached()) return 0;
    float milliseconds = 0;
    Check("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return std::max(0.0, 1e-3 * milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
  bool is_recorded_ = false;
};

class CudaCopyQueue final : public CopyQueue {
 public:
  explicit CudaCopyQueue(torch::Device gpu) : gpu_(gpu.index()) {
    int lowest = 0, highest = 0;
    Check("cudaDeviceGetStreamPriorityRange", cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    Check("cudaStreamCreate",
          cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, lowest));
    MakePool();
  }

  // Ignores errors, because a destructor cannot report them.
  ~CudaCopyQueue() override {
    static_cast<void>(cudaSetDevice(gpu_));
    if (pool_ != nullptr) static_cast<void>(cudaMemPoolDestroy(pool_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  void FollowTraining() override {
    trained_.Record(Training());
    trained_.Block(stream_);
  }

  void BlockTraining() override {
    update_.Record(Training());
    EventOf(CopyMark::kReleased).Block(Training());
  }

  int64_t FreeStagingBytes() override {
    Use();
    if (pool_ == nullptr) return 0;
    size_t free_bytes = 0, total_bytes = 0;
    Check("cudaMemGetInfo", cudaMemGetInfo(&free_bytes, &total_bytes));
    const auto total = static_cast<int64_t>(total_bytes);
    return static_cast<int64_t>(free_bytes) + UnusedPoolBytes() -
           std::max(kMinSpareBytes, total / 32);
  }

  char* AllocateStaging(int64_t bytes) override {
    Use();
    void* memory = nullptr;
    const cudaError_t result =
        cudaMallocFromPoolAsync(&memory, static_cast<size_t>(bytes), pool_, stream_);
    if (result == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // Clears the error; otherwise a later, unrelated check reports it.
      return nullptr;
    }
    Check("cudaMallocFromPoolAsync", result);
    return static_cast<char*>(memory);
  }

  // Returning gigabytes takes tens of milliseconds. Without the last two calls, CUDA would do so in
  // the next call that waits for the device, which could be a call of the training thread.
  void FreeStaging(char* memory) override {
    Await(CopyMark::kCopied);
    Check("cudaFreeAsync", cudaFreeAsync(memory, stream_));
    Check("cudaStreamSynchronize", cudaStreamSynchronize(stream_));
    Check("cudaMemPoolTrimTo", cudaMemPoolTrimTo(pool_, 0));
  }

  void Copy(char* to, const char* from, int64_t bytes) override {
    Use();
    Check("cudaMemcpyAsync",
          cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, stream_));
  }

  void Mark(CopyMark mark) override {
    Use();
    EventOf(mark).Record(stream_);
  }

  // Polls, because a blocking wait would hold a lock of the driver that training needs.
  void Await(CopyMark mark) override {
    Use();
    while (!EventOf(mark).IsReached()) std::this_thread::sleep_for(kPollInterval);
  }

  CopyTimes Times() override {
    Use();
    const TimedEvent& staged = EventOf(CopyMark::kStaged);
    const TimedEvent& released = EventOf(CopyMark::kReleased);
    return {.staging = staged.SecondsSince(EventOf(CopyMark::kBegun)),
            .direct = released.SecondsSince(staged),
            .staged = EventOf(CopyMark::kCopied).SecondsSince(released),
            .to_update = update_.SecondsSince(staged)};
  }

 private:
  // Makes the GPU the current device of the calling thread (see UseDevice in host_memory.h).
  void Use() const { Check("cudaSetDevice", cudaSetDevice(gpu_)); }

  cudaStream_t Training() const {
    return c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(gpu_)).stream();
  }

  TimedEvent& EventOf(CopyMark mark) { return marks_[static_cast<size_t>(mark)]; }

  // Without a pool, nothing is staged.
  void MakePool() {
    int has_pools = 0;
    Check("cudaDeviceGetAttribute",
          cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, gpu_));
    if (has_pools == 0) return;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {.type = cudaMemLocationTypeDevice, .id = gpu_};
    Check("cudaMemPoolCreate", cudaMemPoolCreate(&pool_, &properties));
  }

  int64_t UnusedPoolBytes() const {
    uint64_t reserved = 0, used = 0;
    Check("cudaMemPoolGetAttribute",
          cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved));
    Check("cudaMemPoolGetAttribute",
          cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used));
    return static_cast<int64_t>(reserved - used);
  }

  const int gpu_;
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  TimedEvent trained_;  // The training work that the copies follow.
  TimedEvent update_;   // Training work has reached BlockTraining.
  std::array<TimedEvent, 6> marks_;
};

}  // namespace

std::unique_ptr<CopyQueue> MakeCopyQueue(torch::Device gpu) {
  UseDevice(gpu);  // The events and the stream belong to the current device.
  return std::make_unique<CudaCopyQueue>(gpu);
}

}  // namespace trainyard::trainer
