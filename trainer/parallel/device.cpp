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
  return precision == Precision::kBf16 ? statistics->bf16_flops : statistics->fp32_flops;
}

}  // namespace trainyard::trainer
