// Reads the price of GPU time from the controller's settings.
#ifndef TRAINYARD_CONTROLLER_PRICE_SETTING_H_
#define TRAINYARD_CONTROLLER_PRICE_SETTING_H_

#include <string>

#include "absl/status/statusor.h"
#include "controller/core/support/gpu_price.h"

namespace trainyard::controller {

// The setting as text; an empty text means "not set".
struct PriceSetting {
  std::string gpu_hour_price;
  std::string currency;
};

// Parses the section `cost` of a configuration file (deploy/README.md). Values in `flags` replace
// those of the file. Returns no price if neither the flags nor the file set one. INVALID_ARGUMENT:
// the message names the setting and its valid values.
absl::StatusOr<GpuPrice> ReadGpuPrice(const std::string& yaml, const PriceSetting& flags);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_PRICE_SETTING_H_
