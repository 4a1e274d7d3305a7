#include "trainer/parallel/stream_counters.h"

#include <new>
#include <string>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/cuda_event.h"

namespace trainyard::trainer {
namespace {

// Looks up a driver function through the CUDA runtime, because a program linked to the driver would
// not start on machines without a driver.
void* DriverFunction(const char* name) {
  constexpr unsigned int kVersion = 11070;  // First CUDA version with this signature.
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CheckCuda("cudaGetDriverEntryPoint",
            cudaGetDriverEntryPointByVersion(name, &function, kVersion, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) {
    throw TrainerError(ExitCode::kInternal,
                       std::string("The NVIDIA driver has no ") + name + "; install a newer one.");
  }
  return function;
}

OperationCounters* AllocateCounters() {
  void* memory = nullptr;
  CheckCuda("cudaHostAlloc",
            cudaHostAlloc(&memory, sizeof(OperationCounters), cudaHostAllocMapped));
  return new (memory) OperationCounters;
}

}  // namespace

StreamCounters::StreamCounters()
    : write_value_(reinterpret_cast<WriteValue>(DriverFunction("cuStreamWriteValue32"))),
      counters_(AllocateCounters()) {
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
  const CUresult result =
      write_value_(stream, reinterpret_cast<CUdeviceptr>(&counter), value, /*flags=*/0);
  if (result == CUDA_SUCCESS) return;
  throw TrainerError(ExitCode::kInternal,
                     "cuStreamWriteValue32 failed with " + std::to_string(result) + ".");
}

}  // namespace trainyard::trainer
