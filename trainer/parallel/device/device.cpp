#include "trainer/parallel/device/device.h"

#include <sys/resource.h>

#include "proto/contract/device_table.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

int64_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;  // Linux reports KiB.
}

void CheckHasFp8(const std::string& device_name, int64_t capability) {
  constexpr int64_t kFirstWithFp8 = 89;
  if (capability == 0 || capability >= kFirstWithFp8) return;
  throw TrainerError(ExitCode::kBadConfig,
                     "train.fp8 needs GPUs of compute capability 8.9 or higher, but " +
                         device_name + " has " + std::to_string(capability / 10) + "." +
                         std::to_string(capability % 10) + ". Set train.fp8 to none.");
}

double PeakFlops(const std::string& device_name, Precision precision) {
  const DeviceRating* statistics = FindDevice(device_name);
  if (statistics == nullptr) return 0;
  switch (precision) {
    case Precision::kFp32:
      return statistics->fp32_flops;
    case Precision::kBf16:
      return statistics->bf16_flops;
    case Precision::kFp16:
      return statistics->fp16_flops;
  }
  return 0;
}

}  // namespace trainyard::trainer
