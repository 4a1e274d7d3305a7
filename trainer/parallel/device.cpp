#include "trainer/parallel/device.h"

#include <sys/resource.h>

#include "proto/contract/device_table.h"

namespace trainyard::trainer {

int64_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;  // Linux reports KiB.
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
