#include "controller/planner/device_rates.h"

#include "proto/rules/fp8_products.h"

namespace trainyard::planner {

double MemoryRate(const Cluster& cluster, const TrainerProfile& profile) {
  return profile.memory * cluster.device->memory_bandwidth;
}

double PeakFlops(Precision precision, const DeviceSpec& device) {
  const DeviceRating& rating = *device.rating;
  switch (precision) {
    case Precision::kFp32:
      return rating.fp32_flops;
    case Precision::kBf16:
      return rating.bf16_flops;
    case Precision::kFp16:
      return rating.fp16_flops;
  }
  return 0;
}

double PeakFlops(const TrainConfig& train, const DeviceSpec& device) {
  return HasFp8(train) ? device.fp8_flops : PeakFlops(train.precision, device);
}

}  // namespace trainyard::planner
