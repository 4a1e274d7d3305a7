// Devices of a build without CUDA.
#include "trainer/config/trainer_error.h"
#include "trainer/parallel/device.h"

namespace trainyard::trainer {

torch::Device OpenDevice(DeviceKind kind, int64_t) {
  if (kind == DeviceKind::kGpu) {
    throw TrainerError(ExitCode::kBadConfig,
                       "resources.device is gpu, but this trainer was built for CPUs only; set it "
                       "to cpu or build with the gpu preset.");
  }
  return torch::Device(torch::kCPU);
}

std::string DeviceName(torch::Device) { return "CPU"; }

int64_t PeakMemoryBytes(torch::Device) { return PeakResidentBytes(); }

}  // namespace trainyard::trainer
