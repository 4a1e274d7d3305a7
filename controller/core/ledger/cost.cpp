#include "controller/core/ledger/cost.h"

namespace trainyard::controller {
namespace {

constexpr double kHourSeconds = 3600;

}  // namespace

bool CountsAsGpu(v1::DeviceKind device) { return device != v1::DEVICE_KIND_CPU; }

std::optional<v1::Cost> CostOf(double gpu_seconds, const GpuPrice& price) {
  if (price.per_hour <= 0) return std::nullopt;
  v1::Cost cost;
  cost.set_amount(gpu_seconds / kHourSeconds * price.per_hour);
  cost.set_currency(price.currency);
  cost.set_gpu_hour_price(price.per_hour);
  return cost;
}

}  // namespace trainyard::controller
