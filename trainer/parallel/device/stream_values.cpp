#include "trainer/parallel/device/stream_values.h"

#include <string>

#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device/cuda_event.h"

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

void CheckDriver(const char* function, CUresult result) {
  if (result == CUDA_SUCCESS) return;
  throw TrainerError(ExitCode::kInternal,
                     std::string(function) + " failed with " + std::to_string(result) + ".");
}

}  // namespace

StreamValues::StreamValues()
    : write_(reinterpret_cast<Function>(DriverFunction("cuStreamWriteValue32"))),
      wait_(reinterpret_cast<Function>(DriverFunction("cuStreamWaitValue32"))) {}

void StreamValues::Write(cudaStream_t stream, CUdeviceptr address, uint32_t value) const {
  CheckDriver("cuStreamWriteValue32", write_(stream, address, value, /*flags=*/0));
}

void StreamValues::WaitFor(cudaStream_t stream, CUdeviceptr address, uint32_t value) const {
  CheckDriver("cuStreamWaitValue32", wait_(stream, address, value, CU_STREAM_WAIT_VALUE_GEQ));
}

}  // namespace trainyard::trainer
