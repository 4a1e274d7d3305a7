#include "trainer/parallel/stream_counters.h"

#include <new>

#include "trainer/parallel/device/cuda_event.h"

namespace trainyard::trainer {
namespace {

OperationCounters* AllocateCounters() {
  void* memory = nullptr;
  CheckCuda("cudaHostAlloc",
            cudaHostAlloc(&memory, sizeof(OperationCounters), cudaHostAllocMapped));
  return new (memory) OperationCounters;
}

}  // namespace

StreamCounters::StreamCounters() : counters_(AllocateCounters()) {
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
}

// Ignores errors, because a destructor cannot report them. Such errors would come from earlier work
// on the device.
StreamCounters::~StreamCounters() { static_cast<void>(cudaFreeHost(counters_)); }

void StreamCounters::Enter(cudaStream_t stream, uint32_t operation) {
  Write(stream, counters_->entered, operation);
}

void StreamCounters::Leave(cudaStream_t stream, uint32_t operation) {
  Write(stream, counters_->left, operation);
}

// The device can use the host address of `counter`, because the CUDA runtime allocated this memory.
void StreamCounters::Write(cudaStream_t stream, const std::atomic<uint32_t>& counter,
                           uint32_t value) {
  values_.Write(stream, reinterpret_cast<CUdeviceptr>(&counter), value);
}

}  // namespace trainyard::trainer
