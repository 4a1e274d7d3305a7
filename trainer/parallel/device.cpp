#include "trainer/parallel/device.h"

#include <sys/resource.h>

namespace trainyard::trainer {

int64_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB.
}

double PeakFlops(const std::string& device_name, Precision precision) {
  struct Peak {
    const char* name;
    double bf16;
    double fp32;
  };
  // NVIDIA data sheets: dense, SXM parts, at boost clock.
  static constexpr Peak kPeaks[] = {{"H200", 989.4e12, 66.9e12},
                                    {"H100", 989.4e12, 66.9e12},
                                    {"A100", 312e12, 19.5e12},
                                    {"B200", 2250e12, 75e12}};
  for (const Peak& peak : kPeaks) {
    if (device_name.find(peak.name) == std::string::npos) continue;
    return precision == Precision::kBf16 ? peak.bf16 : peak.fp32;
  }
  return 0;
}

}  // namespace trainyard::trainer
