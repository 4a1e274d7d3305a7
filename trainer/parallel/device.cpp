#include "trainer/parallel/device.h"

#include <sys/resource.h>

#include "proto/contract/device_table.h"

namespace trainyard::trainer {

int64_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB.
}

double PeakFlops(const std::string& device_name, Precision precision) {
  const DeviceFigures* figures = FindDevice(device_name);
  if (figures == nullptr) return 0;
  return precision == Precision::kBf16 ? figures->bf16_flops : figures->fp32_flops;
}

}  // namespace trainyard::trainer
