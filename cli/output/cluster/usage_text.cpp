#include "cli/output/cluster/usage_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {

std::string GpuHoursText(double gpu_seconds) {
  return gpu_seconds <= 0 ? kNothing : absl::StrFormat("%.1f", gpu_seconds / 3600);
}

std::string CostText(const v1::Cost& cost) {
  const std::string unit = cost.currency().empty() ? "" : absl::StrCat(" ", cost.currency());
  return absl::StrCat(absl::StrFormat("%.2f", cost.amount()), unit, " at ",
                      NumberText(cost.gpu_hour_price()), unit, " per GPU-hour");
}

}  // namespace trainyard::cli
