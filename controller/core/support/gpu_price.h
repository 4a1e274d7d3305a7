// The price of GPU time.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_GPU_PRICE_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_GPU_PRICE_H_

#include <string>

namespace trainyard::controller {

struct GpuPrice {
  // The price of one GPU for one hour. 0: no price is configured, and no costs are shown.
  double per_hour = 0;
  // Shown next to amounts, such as "USD". May be empty.
  std::string currency;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_GPU_PRICE_H_
