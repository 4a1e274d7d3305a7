#include "controller/price_setting.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

constexpr double kPriceMax = 1'000'000;
// Enough bytes for a code such as "USD" or for a short name of an internal unit.
constexpr std::size_t kCurrencyBytesMax = 12;

absl::StatusOr<PriceSetting> ReadSection(const YAML::Node& section) {
  PriceSetting setting;
  if (!section || section.IsNull()) return setting;
  if (!section.IsMap()) return absl::InvalidArgumentError("cost: is not a map");
  for (const auto& entry : section) {
    const auto key = entry.first.as<std::string>();
    if (key == "gpu_hour_price") {
      setting.gpu_hour_price = entry.second.as<std::string>();
    } else if (key == "currency") {
      setting.currency = entry.second.as<std::string>();
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("cost.", key, ": unknown key; the keys are gpu_hour_price and currency"));
    }
  }
  return setting;
}

absl::StatusOr<PriceSetting> ReadFile(const std::string& yaml) {
  try {
    const YAML::Node document = YAML::Load(yaml);
    // Other parts of the controller report a document that is not a map.
    return document.IsMap() ? ReadSection(document["cost"]) : PriceSetting();
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("cost: ", error.what()));
  }
}

bool IsCurrency(const std::string& text) {
  const auto is_bad = [](char c) {
    return absl::ascii_isspace(c) || absl::ascii_iscntrl(c) || c == ',' || c == '"';
  };
  return text.size() <= kCurrencyBytesMax && IsUtf8(text) && std::ranges::none_of(text, is_bad);
}

absl::StatusOr<GpuPrice> PriceOf(const PriceSetting& setting) {
  GpuPrice price{.currency = setting.currency};
  if (!IsCurrency(setting.currency)) {
    return absl::InvalidArgumentError(
        absl::StrCat("currency: must be at most ", kCurrencyBytesMax,
                     " bytes of UTF-8 without spaces, commas and quotes, such as USD"));
  }
  if (setting.gpu_hour_price.empty()) {
    if (setting.currency.empty()) return price;
    return absl::InvalidArgumentError(
        "currency: there is no price; set gpu_hour_price or --gpu-hour-price, too");
  }
  const bool is_number = absl::SimpleAtod(setting.gpu_hour_price, &price.per_hour);
  if (!is_number || !(price.per_hour > 0 && price.per_hour <= kPriceMax)) {
    return absl::InvalidArgumentError(
        absl::StrCat("gpu_hour_price: `", setting.gpu_hour_price,
                     "` is not a number above 0 and at most 1000000, such as 2.10"));
  }
  return price;
}

}  // namespace

absl::StatusOr<GpuPrice> ReadGpuPrice(const std::string& yaml, const PriceSetting& flags) {
  TRAINYARD_ASSIGN_OR_RETURN(PriceSetting setting, ReadFile(yaml));
  if (!flags.gpu_hour_price.empty()) setting.gpu_hour_price = flags.gpu_hour_price;
  if (!flags.currency.empty()) setting.currency = flags.currency;
  return PriceOf(setting);
}

}  // namespace trainyard::controller
