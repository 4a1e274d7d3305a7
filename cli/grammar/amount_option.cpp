#include "cli/grammar/amount_option.h"

#include "absl/strings/str_cat.h"
#include "controller/planner/amount.h"

namespace trainyard::cli {

absl::StatusOr<double> ReadAmountOption(const std::string& option, const std::string& text) {
  if (text.empty()) return 0.0;
  constexpr double kMost = 1e40;
  const std::optional<planner::Amount> amount = planner::ReadAmount(text);
  if (amount.has_value() && amount->value >= 1 && amount->value <= kMost) return amount->value;
  return absl::InvalidArgumentError(absl::StrCat(
      option, " `", text, "` must be a number from 1 to 1e40, such as 7B, 2T or 1.36e21"));
}

}  // namespace trainyard::cli
